import { quoteText } from '../quoted-text.ts';
import { safeCut } from './character.ts';
import { costOf, type Line } from './layout.ts';
import type { Passage } from './passage.ts';
import { asLine } from './quoting.ts';
import type { SelectedUnit } from './select-units.ts';

// With less room than this beside it, a head tells more than the words do.
const MIN_FIRST_CHARS = 20;

/** Where no unit fits or none says anything: the beginning of the first text there is, with its head where that leaves room. */
export function firstWords(passages: readonly Passage[], budgetChars: number): readonly SelectedUnit[] {
  for (const passage of passages) {
    const match = /\S[^\n\r\v\f\u0085\u2028\u2029]*/.exec(passage.text);
    const unit = passage.units[0];
    if (match === null || budgetChars < 1) continue;
    const start = unit?.start ?? match.index;
    const end = unit?.end ?? match.index + match[0].trimEnd().length;
    const whole = asLine(passage.text.slice(start, end), passage);
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
