import { quoteText } from '../quoted-text.ts';
import { safeCut } from './character.ts';
import type { Stemmer } from './terms.ts';
import type { Passage } from './passage.ts';
import { createSelection, type SelectedUnit } from './selection.ts';
import { costOf, type Line, parseHeader, toLine } from './summary-lines.ts';

export type SelectOptions = {
  /** The length of the rendered text, headers and line ends included. */
  readonly budgetChars: number;
  readonly stem: Stemmer;
  /** Summaries that will stand next to this one. What they say counts as kept. */
  readonly earlier?: readonly string[];
  /** Chooses only units that say something new, and possibly none. Otherwise there is at least one wherever one fits. */
  readonly onlyNovel?: boolean;
};

/** The units that keep most of the conversation within the budget, in their original order. Deterministic. */
export function selectUnits(
  passages: readonly Passage[],
  { budgetChars, stem, earlier = [], onlyNovel = false }: SelectOptions,
): readonly SelectedUnit[] {
  const selection = createSelection(passages, { stem, lineOf: toLine });
  selection.cover(earlierLines(earlier, passages));
  const selected = selection.choose({ budgetChars, onlyNovel });
  return selected.length > 0 || onlyNovel ? selected : firstWords(passages, budgetChars);
}

// If a header would leave less room than this, the words go without it.
const MIN_FIRST_CHARS = 20;

/** The fallback when no unit fits or says anything: the beginning of the first text, with its header if there is room. */
function firstWords(passages: readonly Passage[], budgetChars: number): readonly SelectedUnit[] {
  for (const passage of passages) {
    const match = /\S[^\n\r\v\f\u0085\u2028\u2029]*/.exec(passage.text);
    const unit = passage.units[0];
    if (match === null || budgetChars < 1) continue;
    const start = unit?.start ?? match.index;
    const end = unit?.end ?? match.index + match[0].trimEnd().length;
    const whole = toLine(passage.text.slice(start, end), passage);
    const headChars = costOf(whole, null) - 1 - whole.text.length;
    const isHeaded = headChars + MIN_FIRST_CHARS <= budgetChars;
    if (whole.isQuoted && !isHeaded) continue;
    const roomChars = isHeaded ? budgetChars - headChars : budgetChars;
    const cut = Math.min(end, start + roomChars);
    const text = passage.text.slice(start, cut < end ? safeCut(passage.text, cut) : end);
    const quoted = quoteText(text);
    const shown = quoted.slice(0, safeCut(quoted, Math.min(quoted.length, roomChars)));
    if (shown === '') continue;
    const bare: Line = { text: shown, day: null, speaker: '', isNamed: false, isQuoted: false };
    const line = isHeaded ? { ...whole, text: shown } : bare;
    return [{ messageId: passage.id, start, end: start + text.length, text, line }];
  }
  return [];
}

// Older summaries are mostly merged into newer ones. Reading all of them would make the cost grow with the square of the transcript.
const MAX_EARLIER_CHARS = 64_000;
const MIN_EARLIER_CHARS = 8_000;

/** The lines of the latest summaries, up to as much text as there is to summarize. */
function earlierLines(earlier: readonly string[], passages: readonly Passage[]): readonly string[] {
  const sourceChars = passages.reduce((sum, { text }) => sum + text.length, 0);
  const maxChars = Math.min(MAX_EARLIER_CHARS, Math.max(MIN_EARLIER_CHARS, sourceChars));
  const lines: string[] = [];
  let leftChars = maxChars;
  for (let i = earlier.length - 1; i >= 0 && leftChars > 0; i -= 1) {
    const text = (earlier[i] ?? '').slice(-leftChars);
    leftChars -= text.length;
    lines.push(...text.split(/[\n\r]+/).filter((line) => line !== '' && parseHeader(line) === undefined));
  }
  return lines;
}
