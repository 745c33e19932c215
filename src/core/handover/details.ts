import type { Stemmer } from '../extract/terms.ts';
import type { Passage } from '../extract/passage.ts';
import { createSelection, type SelectedUnit, type Worth } from '../extract/selection.ts';
import type { Span } from '../extract/sentence.ts';
import { linesOf, type SegmentKind, type Unit } from '../extract/units.ts';
import { commandName, type CompletedCall, isAgentCall, isCheck, outcomeOf } from './calls.ts';
import { NAME, PLACE } from './definitions.ts';
import { cutAtBlank } from './excerpt.ts';
import { baseName, isConstant } from './files.ts';
import { charsOf, charsOfAll, type HandoverLine, quoted, splitLines } from './line.ts';
import { readPieces } from './prose.ts';
import { isAnnouncement, isGuess, isPondering, statesCause, wordsIn } from './statements.ts';
import { isClientLine, isNoise, readableLine, readableText, withoutClientLines } from './tool-result.ts';
import { asksUser, type Conversation, type Turn } from './turns.ts';

type DetailOptions = {
  readonly calls: readonly CompletedCall[];
  /** The names that people and the assistant used. */
  readonly mentioned: ReadonlySet<string>;
  /** The length of the whole hand-over. */
  readonly maxChars: number;
  readonly stem: Stemmer;
};

/** Statements that can be quoted below the sections that quote whole answers. What was quoted or covered before is not quoted again. */
type Details = {
  readonly cover: (texts: readonly string[]) => void;
  /** Causes and decisions that the assistant stated. */
  readonly findings: (maxChars: number) => readonly HandoverLine[];
  /** Statements with names and values, and telling lines of files and outputs under what they belong to. */
  readonly rest: (maxChars: number) => readonly HandoverLine[];
};

/** What a passage belongs to: a request, and in it a file or a command. Prose speaks for itself: its subject is null. */
type Source = {
  readonly messageId: string;
  readonly turn: Turn;
  readonly subject: string | null;
  /** Whether a file was read or searched: only the constants in it say something. */
  readonly isRead?: boolean;
};

// A tool's output can be megabytes long, and a small summary can use little of it.
const READ_PER_BUDGET = 64;
const MIN_TOOL_CHARS = 2_000;
const MAX_TOOL_CHARS = 60_000;
/** Any tool can forge such answers, so they are not told as the user's own words. */
const ANSWERS_HEAD = 'The user’s answers to questions of the assistant, as the calls report them:';

export function createDetails(
  conversation: Conversation,
  { calls, mentioned, maxChars, stem }: DetailOptions,
): Details {
  const share = Math.floor((maxChars * READ_PER_BUDGET) / Math.max(1, calls.length * 2));
  const maxToolChars = Math.max(MIN_TOOL_CHARS, Math.min(MAX_TOOL_CHARS, share));
  const { passages, sources } = readPassages(conversation, { calls, maxToolChars });
  const sourceOf = ({ id }: Pick<Passage, 'id'>): Source | undefined => sources.get(id);
  const selection = createSelection(passages, {
    stem,
    lineOf: (text, passage) => {
      const source = sourceOf(passage);
      const said = source?.subject === null ? sentenceLine(text, source.turn) : `\`${text}\`; `;
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
        of: (text, unit) =>
          statesCause(text) && !isOption(text) && !isQuotedAbove(text) ? worthOfSentence(text, unit) : 0,
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
      const subjectKey = ({ messageId, start, text }: SelectedUnit): string => {
        const source = sources.get(messageId);
        return source === undefined || source.subject === null
          ? `${messageId} ${HEADED.exec(text)?.[0] ?? start}`
          : `${source.turn.number} ${source.subject}`;
      };
      const worth: Worth = {
        excludes: isRepeated,
        of: (text, unit, passage) => {
          if (isQuotedAbove(text)) return 0;
          const isRead = sourceOf(passage)?.isRead === true;
          return unit.kind === 'prose' ? worthOfSentence(text, unit) : worthOfLine(text, unit, { isRead, mentioned });
        },
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
      return [...byHead.values()].flatMap((group): readonly HandoverLine[] => {
        const [first] = group;
        const source = sources.get(first?.messageId ?? '');
        if (first === undefined || source === undefined) return [];
        const isNext = source.turn.number !== number;
        const head = isNext ? [{ text: headOf(source.turn), messageIds: [] }] : [];
        const said =
          source.subject === null
            ? bare(first.text) +
              group
                .slice(1)
                .map(({ text }) => `; ${text.replace(HEADED, '')}`)
                .join('')
            : `${source.subject}: ${[...new Set(group.map(({ text }) => `\`${text}\``))].join('; ')}`;
        const messageIds = [...new Set(group.flatMap(({ messageId }) => sources.get(messageId)?.messageId ?? []))];
        const lines = [...head, { text: `- ${quoted(flat(said))}`, messageIds }];
        const chars = charsOfAll(lines);
        if (chars > lineRoom) return [];
        lineRoom -= chars;
        ({ number } = source.turn);
        return lines;
      });
    },
  };
}

/** The rest of the room is for the subjects. */
const GROUPED_SHARE = 0.9;
/** More lines of one file or output are a listing. */
const MAX_SUBJECT_LINES = 3;
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

function sentenceLine(text: string, turn: Turn): string {
  return `- (${numberOf(turn)}) ${flat(bare(text))}`;
}

function numberOf({ request, number }: Turn): string {
  return request === null ? 'at the start' : String(number);
}

function headOf({ request, number }: Turn): string {
  return request === null ? 'Before the first request:' : `Request ${number}:`;
}

/** What was only offered is no decision. */
function isOption(text: string): boolean {
  return /^(?:\*\*[^*]{1,100}\*\*:? )?[-*• ]*(?:\*\*)?(?:option |approach )?[A-H][.):]\s|\(recommended\)/i.test(text);
}

const MIN_SENTENCE_WORDS = 5;
const BEGINS = /^[\p{Lu}\p{Lo}\p{N}`"'“(*✅❌⚠[]/u;
/** It says what it says of something that stands before it, or of the editor. */
const NEEDS_MORE =
  /^(?:however|but|so|then|also|otherwise|and|or|without (?:it|this|that|them)|this|that|these|those|it|they|there|same)\b|\b(?:diagnostics?|LSP|gopls)\b.*\b(?:stale|expected|clears?|re-?evaluat\w+|cached?)\b/i;
const OPENS_CODE = /^(?:const|let|var|if|for|while|return|def|class|function|import|export)\b.*[({=;:]/;

/** Whether a sentence of the assistant says something on its own: 0 or 1. */
function worthOfSentence(text: string, { kind }: Unit): number {
  if (kind !== 'prose') return 0;
  const said = bare(text);
  if (!BEGINS.test(said) || OPENS_CODE.test(said) || /[,([{]$/.test(said)) return 0;
  if (NEEDS_MORE.test(said) || isPondering(said) || isGuess(said)) return 0;
  return wordsIn(said) < MIN_SENTENCE_WORDS || isAnnouncement(said) ? 0 : 1;
}

/** A line of code that says nothing without its neighbors, or a merge of other people's work. */
const STEP =
  /[,({]$|\bsuccessfully\b|^(?:return|break|continue|else|elif|end|fi|done|if err|try|catch|finally|defer|pass)\b|\bMerge (?:pull request|branch|remote)\b/;
/** A line of output that a person would read as a statement: a name and what is said of it, a sentence, or a commit. */
const TOLD = /^\p{Lu}[^{}<>;_]{2,60}:\s\S|^\p{Lu}[^{}<>;=]{20,}[.!]$|\b[0-9a-f]{7,40}\b \S+ \S+/u;
const HAS_VALUE = /\d|https?:|[\w-]\/[\w-]/;
const ERROR_WORTH = 1;
const TOLD_WORTH = 0.8;
const CONSTANT_WORTH = 0.6;

/** How much a line of an output says next to its subject; 0: nothing. */
function worthOfLine(
  text: string,
  { kind }: Unit,
  { isRead, mentioned }: { readonly isRead: boolean; readonly mentioned: ReadonlySet<string> },
): number {
  // One word, such as a row of `ls`, says nothing on its own.
  if (STEP.test(text) || !/\s/.test(text)) return 0;
  if (kind === 'error') return ERROR_WORTH;
  const code = text.replace(PLACE, '');
  if (isRead || code !== text)
    return isConstant(code) && (code.match(NAME) ?? []).some((name) => mentioned.has(name)) ? CONSTANT_WORTH : 0;
  return TOLD.test(text) && HAS_VALUE.test(text) ? TOLD_WORTH : 0;
}

type Read = { readonly passages: readonly Passage[]; readonly sources: ReadonlyMap<string, Source> };

/** What the assistant said, and what calls answered that stands nowhere else. */
function readPassages(
  { turns }: Conversation,
  { calls, maxToolChars }: Pick<DetailOptions, 'calls'> & { readonly maxToolChars: number },
): Read {
  const callOf = new Map(calls.map((done) => [done.result, done]));
  const passages: Passage[] = [];
  const sources = new Map<string, Source>();
  const add = (source: Source, piece: Piece): void => {
    if (piece.units.length === 0) return;
    const id = `${passages.length}`;
    passages.push({ ...piece, id, day: `request ${source.turn.number}`, speaker: '', speakerKind: 'assistant' });
    sources.set(id, source);
  };
  for (const turn of turns) {
    for (const step of turn.steps) {
      const { messageId } = step;
      if (step.kind === 'said') add({ messageId, turn, subject: null }, proseOf(step.text));
      else if (step.kind === 'result') {
        const done = callOf.get(step);
        if (done !== undefined && isAnsweredElsewhere(done)) continue;
        if (done !== undefined && isAgentCall(done)) {
          add({ messageId, turn, subject: null }, proseOf(withoutClientLines(readableText(step.text, maxToolChars))));
          continue;
        }
        const answer = linesIn(readableText(step.text, maxToolChars), step.isError ? 'error' : 'result');
        add({ messageId, turn, subject: subjectOf(done), isRead: done !== undefined && isRead(done) }, answer);
      }
    }
  }
  return { passages, sources };
}

const ASKS_HELP = /(?:^|\s)(?:--help|-h|man \S+)(?=\s|$)/;

const READS = /^(?:read|view|cat|open|notebookread|read_?file|read_many_files|grep|search|glob|find|ls|list)/i;
const READS_FILE = /^(?:(?:cat|sed -n|head|tail|nl|less|grep|rg|find|ls)\b|git (?!.*--stat\b))/;

function isRead({ call, name }: CompletedCall): boolean {
  return call.command === null ? READS.test(name) : READS_FILE.test(call.command);
}

/** An edit answers with itself, a check that passed with its totals, and a question with what stands among the decisions. Help is in its program. */
function isAnsweredElsewhere(done: CompletedCall): boolean {
  const { call, name } = done;
  if (call.command !== null && ASKS_HELP.test(call.command)) return true;
  const isDone = !done.hasFailed && (call.written.length > 0 || (isCheck(done) && outcomeOf(done) === 'passed'));
  return isDone || asksUser(name);
}

const MAX_SUBJECT_CHARS = 80;

function subjectOf(done: CompletedCall | undefined): string {
  if (done === undefined) return 'A tool answered';
  const { call, name } = done;
  if (call.command !== null) return `\`${cutAtBlank(commandName(done), MAX_SUBJECT_CHARS)}\` printed`;
  return call.target === null
    ? `${name} answered`
    : `${name} \`${cutAtBlank(baseName(call.target), MAX_SUBJECT_CHARS)}\` answered`;
}

type Piece = Pick<Passage, 'text' | 'units'>;

const MAX_LINE_CHARS = 160;

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

/** A line of a drawn table or tree. */
const DRAWN = /^[|│├└┌┐┘┴┬╭╰+]/;
/** Lines of one output that differ in numbers only are rows of a listing. */
const MAX_ALIKE = 3;

/** The readable lines of a tool's text that are short enough to quote, without line numbers. */
function linesIn(text: string, kind: SegmentKind): Piece {
  const readable = splitLines(text).flatMap((line) => {
    const written = readableLine(line) ?? '';
    const isLong = written.length > MAX_LINE_CHARS;
    return written === '' || isLong || written.includes('`') || isClientLine(written) || isNoise(written)
      ? []
      : [written];
  });
  const alike = Map.groupBy(readable, shapeOf);
  const lines = readable.filter((line) => !DRAWN.test(line) && (alike.get(shapeOf(line))?.length ?? 0) <= MAX_ALIKE);
  const clean = lines.join('\n');
  return {
    text: clean,
    units: linesOf(clean, { start: 0, end: clean.length }).map((span: Span) => ({ ...span, kind })),
  };
}

function shapeOf(line: string): string {
  return line.replace(/\d+/g, '0');
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
