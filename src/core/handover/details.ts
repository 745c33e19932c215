import type { Stemmer } from '../extract/terms.ts';
import type { Passage } from '../extract/passage.ts';
import { createSelection, type SelectedUnit, type Worth } from '../extract/selection.ts';
import type { Unit } from '../extract/units.ts';
import { type CompletedCall, isAgentCall } from './calls.ts';
import { cutAtBlank } from './excerpt.ts';
import { charsOf, charsOfAll, type HandoverLine, quoted } from './line.ts';
import { readPieces } from './prose.ts';
import { hasCue } from '../languages/pattern.ts';
import { isAnnouncement, isGuess, isPondering, wordsIn } from './statements.ts';
import { readableLine, readableText, withoutClientLines } from './tool-result.ts';
import type { Conversation, Turn } from './turns.ts';

/** Statements that can be quoted below the sections that quote whole answers. What was quoted or covered before is not quoted again. */
type Details = {
  readonly cover: (texts: readonly string[]) => void;
  /** Causes and decisions that the assistant stated. */
  readonly findings: (maxChars: number) => readonly HandoverLine[];
  /** Further statements, under their requests. */
  readonly rest: (maxChars: number) => readonly HandoverLine[];
};

/** Where a passage was said. */
type Source = { readonly messageId: string; readonly turn: Turn };

/** Any tool can forge such answers, so they are not told as the user's own words. */
const ANSWERS_HEAD = 'The user’s answers to questions of the assistant, as the calls report them:';

export function createDetails(
  conversation: Conversation,
  { calls, stem }: { readonly calls: readonly CompletedCall[]; readonly stem: Stemmer },
): Details {
  const { passages, sources } = readPassages(conversation, calls);
  const selection = createSelection(passages, {
    stem,
    hasTools: calls.length > 0,
    lineOf: (text, { id }) => {
      const source = sources.get(id);
      const said = source === undefined ? '' : `- (${numberOf(source.turn)}) ${flat(bare(text))}`;
      return { text: said, day: null, speaker: '', isNamed: false, isQuoted: false };
    },
  });
  let above = '';
  const isQuotedAbove = (text: string): boolean =>
    text.length >= MIN_QUOTED_CHARS && above.includes(flat(bare(text.replace(HEADED, ''))));
  const lineOf = ({ line, messageId }: SelectedUnit): HandoverLine => ({
    text: quoted(line.text),
    messageIds: [sources.get(messageId)?.messageId ?? messageId],
  });
  return {
    cover: (texts) => {
      above += ` ${flat(texts.join(' '))}`;
      selection.cover(texts.flatMap((text) => text.split('\n')));
    },
    findings: (budgetChars) => {
      const worth: Worth = {
        of: (text, unit) => (isFinding(text) && !isQuotedAbove(text) ? worthOfSentence(text, unit) : 0),
      };
      const chosen = selection.choose({ budgetChars, onlyNovel: true, worth });
      return [...new Map(chosen.map((unit) => [flat(bare(unit.text)), unit])).values()].map(lineOf);
    },
    rest: (roomChars) => {
      const seen = new Set<string>();
      const isRepeated = (text: string): boolean => {
        const said = flat(bare(text));
        if (seen.has(said)) return true;
        seen.add(said);
        return false;
      };
      let left = Math.floor(roomChars * GROUPED_SHARE);
      const linesOfSubject = new Map<string, number>();
      const subjectKey = ({ messageId, start, text }: SelectedUnit): string =>
        `${messageId} ${HEADED.exec(text)?.[0] ?? start}`;
      const worth: Worth = {
        excludes: isRepeated,
        of: (text, unit) => (isQuotedAbove(text) ? 0 : worthOfSentence(text, unit)),
      };
      const pick = (): readonly SelectedUnit[] => {
        const chosen = selection.choose({ budgetChars: left, onlyNovel: true, worth }).filter((unit) => {
          const count = (linesOfSubject.get(subjectKey(unit)) ?? 0) + 1;
          if (count > MAX_SUBJECT_LINES) return false;
          linesOfSubject.set(subjectKey(unit), count);
          return true;
        });
        left -= chosen.reduce((sum, { line }) => sum + line.text.length + 1, 0);
        return chosen;
      };
      // What is beyond the most lines of a subject leaves room for others.
      const units = [...pick(), ...pick()].toSorted(
        (a, b) => Number(a.messageId) - Number(b.messageId) || a.start - b.start,
      );
      const byHead = Map.groupBy(units, subjectKey);
      let lineRoom = roomChars;
      let number = -1;
      let written = 0;
      return [...byHead.values()].flatMap((group): readonly HandoverLine[] => {
        const [first] = group;
        const source = sources.get(first?.messageId ?? '');
        if (first === undefined || source === undefined) return [];
        const isNext = source.turn.number !== number;
        const head = isNext ? [{ text: headOf(source.turn), messageIds: [] }] : [];
        const said =
          bare(first.text) +
          group
            .slice(1)
            .map(({ text }) => `; ${text.replace(HEADED, '')}`)
            .join('');
        const messageIds = [...new Set(group.flatMap(({ messageId }) => sources.get(messageId)?.messageId ?? []))];
        const lines = [...head, { text: `- ${quoted(flat(said))}`, messageIds }];
        const chars = charsOfAll(lines);
        if (chars > lineRoom || (!isNext && written >= MAX_REQUEST_LINES)) return [];
        lineRoom -= chars;
        written = isNext ? 1 : written + 1;
        ({ number } = source.turn);
        return lines;
      });
    },
  };
}

/** The rest of the room is for the subjects. */
const GROUPED_SHARE = 0.9;
/** More lines under one heading are a listing. */
const MAX_SUBJECT_LINES = 3;
/** More under one request are a heap. */
const MAX_REQUEST_LINES = 12;
const MIN_QUOTED_CHARS = 12;
const LIST_MARK = /^(?:[-*+•>|]|\d{1,3}[.)])\s+/;
const HEADED = /^\*\*[^*\n]{1,100}:?\*\*:? (?=.)/;
const HEADING_MARK = /^#{1,6}\s+/;

function bare(text: string): string {
  return text.replace(LIST_MARK, '').replace(HEADING_MARK, '');
}

/** What single spaces do not separate. */
const UNEVEN = /\s\s|[^\S ]/;

function flat(text: string): string {
  return (UNEVEN.test(text) ? text.replace(/\s+/g, ' ') : text).trim();
}

function numberOf({ request, number }: Turn): string {
  return request === null ? 'at the start' : String(number);
}

function headOf({ request, number }: Turn): string {
  return request === null ? 'Before the first request:' : `Request ${number}:`;
}

const FINDS =
  /\b(?:because|the (?:actual |real )?(?:problem|issue|bug|cause|reason|culprit) (?:is|was)|root cause|caused by|due to|turns out|decided|chose|chosen|that['’]s why|which is why)\b/i;
/** What was only offered is no decision. */
const OFFERED = /^(?:\*\*[^*]{1,100}\*\*:? )?[-*• ]*(?:\*\*)?(?:option |approach )?[A-H][.):]\s|\(recommended\)/i;

/** Whether a sentence says why something is as it is, or what was decided. */
function isFinding(text: string): boolean {
  return (FINDS.test(text) || hasCue(text, 'causes')) && !OFFERED.test(text);
}

const MIN_SENTENCE_WORDS = 5;
const BEGINS = /^[\p{Lu}\p{Lo}\p{N}`"'“(*✅❌⚠[]/u;
/** It says what it says of something that stands before it. */
const NEEDS_MORE =
  /^(?:however|but|so|then|also|otherwise|and|or|without (?:it|this|that|them)|this|that|these|those|it|they|there|same)\b/i;
const OPENS_CODE = /^(?:const|let|var|if|for|while|return|def|class|function|import|export)\b.*[({=;:]/;

/** Whether a sentence of the assistant says something on its own: 0 or 1. */
function worthOfSentence(text: string, { kind }: Unit): number {
  if (kind !== 'prose') return 0;
  const said = bare(text);
  if (!BEGINS.test(said) || OPENS_CODE.test(said) || /[,([{]$/.test(said)) return 0;
  if (NEEDS_MORE.test(bare(said.replace(HEADED, ''))) || isPondering(said) || isGuess(said)) return 0;
  return wordsIn(said) < MIN_SENTENCE_WORDS || isAnnouncement(said) ? 0 : 1;
}

type Read = { readonly passages: readonly Passage[]; readonly sources: ReadonlyMap<string, Source> };

/** What the assistant said, and the reports of its agents. */
function readPassages({ turns }: Conversation, calls: readonly CompletedCall[]): Read {
  const reports = new Set(calls.filter(isAgentCall).map(({ result }) => result));
  const passages: Passage[] = [];
  const sources = new Map<string, Source>();
  for (const turn of turns) {
    for (const step of turn.steps) {
      const isReport = step.kind === 'result' && reports.has(step);
      if (step.kind !== 'said' && !isReport) continue;
      const piece = proseOf(isReport ? withoutClientLines(readableText(step.text)) : step.text);
      if (piece.units.length === 0) continue;
      const id = `${passages.length}`;
      passages.push({ ...piece, id, day: `request ${turn.number}`, speaker: '', speakerKind: 'assistant' });
      sources.set(id, { messageId: step.messageId, turn });
    }
  }
  return { passages, sources };
}

type Piece = Pick<Passage, 'text' | 'units'>;

/** Splits a message into sentences and list items, without its code. An item stands behind its heading: alone it may say nothing. */
function proseOf(text: string): Piece {
  const said = readPieces(text).flatMap(({ kind, heading, text: piece }) => {
    if (kind === 'lead' || readableLine(piece) === null) return [];
    return [kind === 'item' && heading !== '' ? `${heading} ${bare(piece)}` : piece];
  });
  let start = 0;
  const units = said.map((piece): Unit => {
    const unit = { start, end: start + piece.length, kind: 'prose' } as const;
    start = unit.end + 1;
    return unit;
  });
  return { text: said.join('\n'), units };
}

const MAX_ANSWER_CHARS = 700;
const MAX_OPTION_CHARS = 140;

/** What the user answered to the assistant's questions, according to the results of the calls that asked. The newest answers come first if not all fit. */
export function answerLines({ turns }: Conversation, roomChars: number): readonly HandoverLine[] {
  let left = roomChars - ANSWERS_HEAD.length - 1;
  const answers = turns
    .flatMap((turn) => turn.replies.flatMap((reply) => (reply.kind === 'answers' ? answersIn(reply, turn) : [])))
    .toReversed();
  const fitting = answers.filter(({ line }) => {
    if (charsOf(line) > left) return false;
    left -= charsOf(line);
    return true;
  });
  const lines = fitting.map(({ line, meaning }) => {
    if (meaning.length > left) return line;
    left -= meaning.length;
    return { ...line, text: line.text + meaning };
  });
  return lines.length === 0 ? [] : [{ text: ANSWERS_HEAD, messageIds: [] }, ...lines.toReversed()];
}

/** Each answer with its question and, apart, with what the question said of the option that was chosen. */
function answersIn(
  { text, messageId, options }: Turn['replies'][number],
  turn: Turn,
): readonly { readonly line: HandoverLine; readonly meaning: string }[] {
  const pairs = [...text.matchAll(PAIR)].map(([, question = '', answer = '']) => {
    const option = options?.get(answer);
    const meaning = option === undefined ? '' : ` (${cutAtBlank(flat(option), MAX_OPTION_CHARS)})`;
    return { said: `“${question}” → “${cutAtBlank(answer, MAX_ANSWER_CHARS)}”`, meaning };
  });
  const all = pairs.length > 0 ? pairs : [{ said: `“${cutAtBlank(text, MAX_ANSWER_CHARS)}”`, meaning: '' }];
  return all.map(({ said, meaning }) => ({
    line: { text: `- (${numberOf(turn)}) ${quoted(said)}`, messageIds: [messageId] },
    meaning,
  }));
}

const PAIR = /"([^"\n]{3,400})"="([^"]{1,2000})"/g;
