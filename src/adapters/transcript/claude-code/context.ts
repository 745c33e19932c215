import type { Entry } from '../../../core/transcript.ts';
import type { ContextView, CutProblem, ListedFile } from '../../../ports/codec.ts';
import type { NoteOf } from '../session.ts';
import { followParents } from '../parents.ts';
import type { ThreadNote } from './decode.ts';
import { safeCut } from '../../../core/extract/character.ts';
import { firstIn, type JsonRecord, recordsAt, stringAt, valueAt } from '../json.ts';
import { listedRecords } from '../listed-title.ts';
import { textBlocks } from '../said.ts';

type Notes = NoteOf<ThreadNote>;

/** What the producer would still send: everything since its last compaction, and what that compaction preserved. */
export function readContext(entries: readonly Entry[], noteOf: Notes): ContextView {
  const { line: startLine, preserved, priorLine } = findContextStart(entries, noteOf);
  const isOwn = findOwnThread(entries);
  const isStale = (entry: Entry): boolean => {
    if (entry.kind !== 'message' && entry.kind !== 'summary') return false;
    if (!isOwn(entry)) return true;
    if (entry.line === priorLine) return false;
    if (entry.kind === 'summary') return true;
    if (entry.line >= startLine) return false;
    return preserved === null || entry.line < preserved.first || entry.line > preserved.last;
  };
  const last = entries.at(-1);
  const sizeBytes = last === undefined ? 0 : last.start + last.length;
  const mustDrop = (entry: Entry): boolean => isTitleOutOfSight(entry, sizeBytes) && noteOf(entry.line)?.kind !== 'tip';
  return { priorLine, isStale, mustDrop };
}

/** Where the producer's context begins: at its last boundary, or at a summary without one. */
function findContextStart(entries: readonly Entry[], noteOf: Notes) {
  const main = entries.filter(findOwnThread(entries));
  const boundary = main.findLast(({ line }) => noteOf(line)?.kind === 'boundary');
  const boundaryLine = boundary?.line ?? 0;
  const summaryLines = main.filter((entry) => entry.kind === 'summary').map((entry) => entry.line);
  const priorLine = summaryLines.at(-1) ?? null;
  // If a second summary follows one boundary, its own boundary is lost (glued lines); it still cuts the chain.
  const ownsBoundary = boundaryLine > (summaryLines.at(-2) ?? 0);
  return {
    /** The lines before it are out of the context; 0: none are. */
    line: ownsBoundary ? boundaryLine : (priorLine ?? 0),
    /** The lines before it that the boundary kept. */
    preserved: ownsBoundary ? preservedRange(main, noteOf(boundaryLine)) : null,
    priorLine,
    /** The boundary or the summary, whichever is later; a kept part begins after it. 0: there is neither. */
    lastLine: Math.max(boundaryLine, priorLine ?? 0),
  };
}

/** The lines from head to tail of a preserved segment; null if they are not both in the file, in this order. */
function preservedRange(main: readonly Entry[], boundary: ThreadNote | undefined) {
  if (boundary?.kind !== 'boundary' || boundary.keptFrom === undefined) return null;
  const head = main.findLast((entry) => entry.recordId === boundary.keptFrom);
  const tail = main.findLast((entry) => entry.recordId === boundary.keptTo);
  if (head === undefined || tail === undefined || head.line > tail.line) return null;
  return { first: head.line, last: tail.line };
}

/** A record that names its parent, by its position among the entries. */
type Link = {
  readonly id: string;
  readonly parentId: string | null;
  readonly position: number;
  readonly line: number;
  readonly isMain: boolean;
};

type Chain = ReturnType<typeof buildChain>;

/**
 * Which records belong to the thread that the file is about: the main one or, in a subagent's own file, where every
 * message is in a side thread, that one.
 */
function findOwnThread(entries: readonly Entry[]): (entry: Entry) => boolean {
  const hasMain = entries.some(({ kind, isSide }) => (kind === 'message' || kind === 'summary') && isSide !== true);
  return hasMain ? ({ isSide }) => isSide !== true : () => true;
}

/**
 * The thread of one conversation. If several records have one id, the last one counts, as it does for the producer.
 * The tip is the last message of the main thread: system rows and progress records may follow it anywhere, and the
 * client does not resume from them. If a person went back and has said nothing since, it is the record that they went
 * back to.
 */
function buildChain(entries: readonly Entry[], noteOf: Notes) {
  const byId = new Map<string, Link>();
  const lastChildLines = new Map<string, number>();
  const links: Link[] = [];
  const isOwn = findOwnThread(entries);
  let tip: Link | undefined;
  let wentBackTo: string | undefined;
  entries.forEach((entry, position) => {
    const note = noteOf(entry.line);
    if (note?.kind === 'tip') wentBackTo = note.id;
    if (entry.recordId === undefined || entry.parentId === undefined) return;
    const isMain = isOwn(entry);
    const link = { id: entry.recordId, parentId: entry.parentId, position, line: entry.line, isMain };
    byId.set(link.id, link);
    if (link.parentId !== null) lastChildLines.set(link.parentId, link.line);
    if (!isMain) return;
    links.push(link);
    wentBackTo = undefined;
    if (entry.kind === 'message' && entry.isAside !== true) tip = link;
  });
  return {
    /** The records of the main thread, in file order. */
    links,
    /** The last line with this id; 0: it is not in the file. */
    lastLineOf: (id: string) => byId.get(id)?.line ?? 0,
    /** The last position with this id; -1: it is not in the file. */
    lastPositionOf: (id: string) => byId.get(id)?.position ?? -1,
    /** The last line, in side threads too, that names this parent; 0: none does. */
    lastChildLineOf: (parentId: string) => lastChildLines.get(parentId) ?? 0,
    /** From the tip of the main thread to its root, to a parent that is not in the file, or to the last record before a cycle closes. */
    active: followParents((wentBackTo === undefined ? undefined : byId.get(wentBackTo)) ?? tip, ({ parentId }) =>
      parentId === null ? undefined : byId.get(parentId),
    ).found,
  };
}

/**
 * A kept part may begin at a line if the summary, which takes the id of that line's parent, becomes the only thing
 * that the kept records depend on: no kept record has another parent outside the kept part, and the walk from the tip
 * to the root leaves the kept part through this line. No other kept record may have that parent: the client would move
 * it behind the tip of the preserved segment, into the conversation. Linear in the entries; each answer takes constant
 * time.
 */
export function legalCuts(entries: readonly Entry[], noteOf: Notes): (line: number) => CutProblem {
  // Computes all answers first, one byte each: the tables behind them are far larger and must not live as long as the
  // answers.
  const answers = findProblems(entries, noteOf);
  return (line) => {
    const position = positionOf(entries, line);
    const answer = position === null ? undefined : answers[position];
    return answer === undefined ? 'there is no record of this conversation' : (PROBLEMS[answer] ?? null);
  };
}

const PROBLEMS = [
  null,
  'there is no message of the main thread',
  "it is before the conversation's last compaction",
  'the record has no parent that the summary could replace',
  "the record's parent is kept too",
  'the chain of parents ends within the kept part',
  'the chain of parents leaves the kept part through another record',
  'another kept record has the same parent',
  'kept records have other parents that would be gone',
] as const satisfies readonly CutProblem[];

/** For each position, the index of the problem with a cut there. */
function findProblems(entries: readonly Entry[], noteOf: Notes): Uint8Array {
  const { lastLine } = findContextStart(entries, noteOf);
  const isOwn = findOwnThread(entries);
  const chain = buildChain(entries, noteOf);
  const outside = countOutsideParents(chain, entries);
  const exits = findExits(chain, entries);
  const problemAt = (entry: Entry, position: number): (typeof PROBLEMS)[number] => {
    const { line } = entry;
    if (entry.kind !== 'message' || !isOwn(entry) || entry.isAside === true)
      return 'there is no message of the main thread';
    if (line <= lastLine) return "it is before the conversation's last compaction";
    if (typeof entry.parentId !== 'string') return 'the record has no parent that the summary could replace';
    if (chain.lastLineOf(entry.parentId) >= line) return "the record's parent is kept too";
    if (exits[position] === NO_EXIT) return 'the chain of parents ends within the kept part';
    if (exits[position] !== line) return 'the chain of parents leaves the kept part through another record';
    if (chain.lastChildLineOf(entry.parentId) !== line) return 'another kept record has the same parent';
    if (outside[position] !== 1) return 'kept records have other parents that would be gone';
    return null;
  };
  return Uint8Array.from(entries, (entry, position) => PROBLEMS.indexOf(problemAt(entry, position)));
}

/** Entries are in the order of their lines. */
function positionOf(entries: readonly Entry[], line: number): number | null {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.line ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  return entries[low]?.line === line ? low : null;
}

/**
 * For each position: how many parents of the records from there on come before it. A parent that is not in the file
 * counts only if the producer would miss it, on the active chain.
 */
function countOutsideParents(chain: Chain, entries: readonly Entry[]): Int32Array {
  const lastChild = new Map<string, Link>();
  const note = (link: Link): void => {
    if (link.parentId === null) return;
    const known = lastChild.get(link.parentId);
    if (known === undefined || known.line < link.line) lastChild.set(link.parentId, link);
  };
  const hasParent = ({ parentId }: Link): boolean => parentId !== null && chain.lastPositionOf(parentId) >= 0;
  for (const link of chain.links) if (hasParent(link)) note(link);
  for (const link of chain.active) if (link.isMain && !hasParent(link)) note(link);

  // A parent is outside for every cut after its own line, up to the line of its last child.
  const counts = new Int32Array(entries.length + 1);
  for (const [parent, child] of lastChild) {
    const from = chain.lastPositionOf(parent) + 1;
    if (from > child.position) continue;
    counts[from] = (counts[from] ?? 0) + 1;
    counts[child.position + 1] = (counts[child.position + 1] ?? 0) - 1;
  }
  for (let position = 1; position < counts.length; position += 1)
    counts[position] = (counts[position] ?? 0) + (counts[position - 1] ?? 0);
  return counts;
}

const NO_EXIT = 0;

/**
 * For each position: the line through which the walk along the parents leaves the part from there on. `NO_EXIT` if the
 * walk ends inside it, at a root or in a cycle, or does not begin there.
 */
function findExits(chain: Chain, entries: readonly Entry[]): Uint32Array {
  const exits = new Uint32Array(entries.length).fill(NO_EXIT);
  let reach = chain.active[0]?.position ?? -1;
  chain.active.forEach((link, step) => {
    reach = Math.min(reach, link.position);
    const next = chain.active[step + 1];
    const isMissing = link.parentId !== null && chain.lastLineOf(link.parentId) === 0;
    const stop = next?.position ?? (isMissing ? -1 : reach);
    for (let position = reach; position > stop; position -= 1) exits[position] = link.line;
  });
  return exits;
}

/** The client reads only this many bytes at either end of a file. */
const WINDOW_BYTES = 65_536;

/**
 * The title in the client's list, as version 2.1.197 and `listSessions` of @anthropic-ai/claude-agent-sdk 0.3.330 find
 * it. A file that begins with a record of a side thread is hidden.
 */
export function listedTitle(file: ListedFile): string | null {
  const opening = firstIn(listedRecords(file, 'start', { maxLines: 1 }), ({ isSidechain }) => isSidechain ?? null);
  if (opening === true) return null;
  const window = { withinBytes: WINDOW_BYTES };
  const head = [...listedRecords(file, 'start', window)];
  const tail = [...listedRecords(file, 'end', window)];
  const newestFirst = head.toReversed();
  const prompts = head.filter(
    (record) =>
      record['type'] === 'user' &&
      record['isMeta'] !== true &&
      record['isCompactSummary'] !== true &&
      !hasBlock(record, 'tool_result'),
  );
  const rules = [
    () => firstIn(tail, (record) => ownTitle(record, 'custom-title', 'customTitle')),
    () => firstIn(newestFirst, (record) => ownTitle(record, 'custom-title', 'customTitle')),
    () => firstIn(tail, (record) => ownTitle(record, 'ai-title', 'aiTitle')),
    () => firstIn(newestFirst, (record) => ownTitle(record, 'ai-title', 'aiTitle')),
    () => firstIn(tail, (record) => stringAt(record, 'lastPrompt') ?? null),
    () => firstIn(tail, (record) => stringAt(record, 'summary') ?? null),
    () => firstIn(prompts, shownText),
    () => firstIn(prompts, commandName),
    () =>
      firstIn(prompts, (record) =>
        hasBlock(record, 'image') ? 'Image' : hasBlock(record, 'document') ? 'Document' : null,
      ),
  ];
  return (
    Iterator.from(rules)
      .map((rule) => rule())
      .find((title) => title !== null && title !== '') ?? null
  );
}

/**
 * Whether the record has a title that the list does not read where it is. At the beginning of a shorter file, or among
 * its last bytes, the list would find it.
 */
function isTitleOutOfSight({ latestKey, start, length }: Entry, sizeBytes: number): boolean {
  const isInTail = start >= sizeBytes - WINDOW_BYTES;
  if (latestKey === 'ai-title') return !isInTail && start + length - 1 > WINDOW_BYTES;
  return (latestKey === 'last-prompt' || latestKey === 'summary') && !isInTail;
}

function ownTitle(record: JsonRecord, type: string, key: string): string | null {
  return record['type'] === type ? (stringAt(record, key) ?? null) : null;
}

function hasBlock(record: JsonRecord, type: string): boolean {
  return recordsAt(record, 'message', 'content').some((block) => block['type'] === type);
}

/** The texts of a prompt, each on one line. */
function textsOf(record: JsonRecord): readonly string[] {
  const content = valueAt(record, 'message', 'content');
  const texts = typeof content === 'string' ? [content] : recordsAt(content).flatMap((block) => textBlocks(block));
  return texts.map((text) => text.replaceAll('\n', ' ').trim()).filter((text) => text !== '');
}

const COMMAND_NAME = /<command-name>(.*?)<\/command-name>/;
const SHELL_INPUT = /<bash-input>([\s\S]*?)<\/bash-input>/;
/** What the client put into the conversation: text in tags, and its note about an interruption. */
const OWN_TEXT = /^(?:\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\])/;
const MAX_PROMPT = 200;

function shownText(record: JsonRecord): string | null {
  for (const text of textsOf(record)) {
    if (COMMAND_NAME.test(text)) continue;
    const typed = SHELL_INPUT.exec(text)?.[1];
    if (typed !== undefined) return `! ${typed.trim()}`;
    if (!OWN_TEXT.test(text))
      return text.length > MAX_PROMPT ? `${text.slice(0, safeCut(text, MAX_PROMPT)).trim()}…` : text;
  }
  return null;
}

function commandName(record: JsonRecord): string | null {
  const names = textsOf(record).map((text) => COMMAND_NAME.exec(text)?.[1] ?? '');
  return names.find((name) => name !== '') ?? null;
}
