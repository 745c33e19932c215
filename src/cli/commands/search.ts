import { statSync } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import type { SearchHit, SearchReport } from '../../app/contract/archive-reports.ts';
import type { SearchRequest } from '../../app/contract/requests.ts';
import type { Embeddings } from '../../compose/services.ts';
import { parseCount, parseSince, parseUntil } from '../../config/quantity.ts';
import type { Role } from '../../core/message.ts';
import { ID_DIGITS, isSessionId, OPENCODE_ID, sessionIdOf } from '../../core/paths.ts';
import { defineCommand, type Session, EXIT_CODES, type ExitCode } from '../line/command.ts';
import { COMMON_FLAGS, readSource, readTime } from '../line/flags.ts';
import { renderFailure } from '../../messages/failure.ts';
import { describeUnindexed, noArchive } from '../../messages/problems.ts';
import { formatAge } from '../render/scan.ts';
import type { Rendering } from '../render/theme.ts';
import { countOf, formatBytes, formatCount } from '../../messages/quantities.ts';
import {
  clipStart,
  clipText,
  fillLines,
  formatMinute,
  indent,
  type Piece,
  safeText,
  textWidth,
} from '../../messages/text.ts';
import { createEmbeddingsIfAny } from '../runs/services.ts';

const DEFAULT_LIMIT = 10;
const ROLES = ['user', 'assistant', 'system', 'tool'] as const satisfies readonly Role[];

const FLAGS = [
  { flags: '--messages', description: 'messages only', conflicts: 'batches' },
  { flags: '--batches', description: 'summaries only' },
  { flags: '--conversation <id>', description: 'only from this conversation' },
  { flags: '--role <role>', description: 'only messages of this role', choices: ROLES, conflicts: 'batches' },
  {
    flags: '--since <time>',
    description: 'only what was said since this day (2026-03-02) or time (2026-03-02T09:30Z)',
    parse: parseSince,
  },
  {
    flags: '--until <time>',
    description: 'only what was said until this day, or before this time',
    parse: parseUntil,
  },
  { flags: '--source <file>', description: 'only from this transcript: a path, or the end of one' },
  { flags: '--limit <n>', description: `at most this many results (${DEFAULT_LIMIT})`, parse: parseCount },
  { flags: '--wait', description: 'search only when everything stored is in the index, however long that takes' },
  { flags: '--newest', description: 'most recently archived first, instead of best first' },
  ...COMMON_FLAGS,
] as const;

export const command = defineCommand({
  operands: { syntax: '<query...>', description: 'words or any text; or - for one query per line on standard input' },
  flags: FLAGS,
  examples: [
    ['compact search parser config', 'finds messages and summaries with any of these words'],
    ['compact search --messages --since 7d "why port 8080?"', 'searches messages of the last week'],
  ],
  session: ({ options }) => ({
    needs: ['archive'],
    wants: options.newest !== true ? ['embedding'] : [],
    endsWithStdout: true,
  }),
  run: async (session, line) => {
    const { options } = line;
    const instead = 'this search uses words only';
    const search: Search = {
      query: line.operands.join(' '),
      conversation: options.conversation ?? null,
      role: options.role ?? null,
      since: readTime(options.since),
      until: readTime(options.until),
      source: readSource(options),
      kinds: options.messages === true ? 'messages' : options.batches === true ? 'batches' : 'all',
      order: options.newest === true ? 'newest' : 'best',
      limit: options.limit ?? DEFAULT_LIMIT,
      isPatient: options.wait === true,
      withTitles: true,
      embeddings: options.newest === true ? null : await createEmbeddingsIfAny(session, { instead }),
    };
    const isOne = search.query !== '-';
    const capturesNew = session.settings.capture.on_search;
    const known = isOne || capturesNew ? await findKnown(session) : [];
    if (capturesNew) await captureNew(session, known);
    return isOne ? answerOne(session, search, known) : answerLines(session, search);
  },
});

type Search = SearchRequest & { readonly embeddings: Embeddings | null };

/** The transcripts in the folders of the clients. What cannot be read there is no matter of a search. */
async function findKnown({ useCases, terminal }: Session): Promise<readonly string[]> {
  const { findKnownFiles, placesOf } = await import('../inputs/known-places.ts');
  const { files } = await findKnownFiles(placesOf(useCases.listFormats()), terminal.host);
  return [...new Set(files.map(({ path }) => path))];
}

/** Unchanged files are recognized without being read. A file that cannot be captured is not searched, as before. */
async function captureNew({ useCases, reporter, terminal }: Session, paths: readonly string[]): Promise<void> {
  for (const [index, path] of paths.entries()) {
    if (terminal.signal.aborted) return;
    const input = { path, name: path, format: null, refusesLinks: true };
    const progress = reporter.progress.of(path, { index, count: paths.length });
    const done = await useCases.captureFile({ input, isDryRun: false, rereads: false }, progress);
    if (!done.ok && done.error.kind === 'archive') return;
  }
}

/** What a search cannot find because nobody stored it. */
async function reportUncaptured({ useCases, reporter, terminal }: Session, known: readonly string[]): Promise<void> {
  const found = await useCases.findUncaptured(known);
  if (!found.ok || found.value.length === 0) return;
  const { value } = found;
  const bytes = value.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  const what = `${countOf(value.length, 'session')} ${value.length === 1 ? 'is' : 'are'} not captured`;
  reporter.report([`${what}; \`${terminal.program()} capture\` makes them searchable (about ${formatBytes(bytes)}).`]);
}

async function answerOne(session: Session, request: Search, known: readonly string[]): Promise<ExitCode> {
  const { reporter, useCases, asked, terminal } = session;
  reporter.progress.name(session.settings.archive.path);
  const found = await useCases.searchArchive(request);
  if (!found.ok) return session.fail(found.error);
  const { answerTheme: theme, answerWidthColumns: widthColumns } = reporter;
  const isVerbose = asked.outputOptions.verbosity === 'verbose';
  session.answer(found.value, () =>
    renderSearchReport(found.value, { theme, widthColumns, isVerbose, nowMs: Date.now(), program: terminal.program() }),
  );
  const { archive, hits, query, unindexed } = found.value;
  if (archive === null) reporter.report([noArchive(session.settings.archive.path)]);
  else if (hits.length === 0) reporter.report([`${clipText(safeText(query), 60)}: nothing found.`]);
  if (unindexed !== null) reporter.report([describeUnindexed(unindexed)]);
  await reportUncaptured(session, known);
  return EXIT_CODES.done;
}

/** Prints one line of JSON for each input line as soon as it is known: the caller waits for it before the next query. */
async function answerLines(session: Session, request: Search): Promise<ExitCode> {
  const { reporter, useCases, settings, terminal } = session;
  let hasFailed = false;
  let hasToldOfNone = false;
  const answer = async (query: string, upcoming: readonly string[]): Promise<void> => {
    const found = await useCases.searchArchive({ ...request, withTitles: false, query, upcoming });
    if (found.ok) {
      reporter.answerJson(found.value);
      if (found.value.archive === null && !hasToldOfNone) reporter.report([noArchive(settings.archive.path)]);
      hasToldOfNone ||= found.value.archive === null;
      return;
    }
    const error = renderFailure(found.error);
    const none: SearchReport = { schema: 'compact/search@1', query, hits: [], archive: null, unindexed: null, error };
    reporter.answerJson(none);
    reporter.error(error);
    hasFailed = true;
  };
  for await (const queries of readQueryGroups(terminal.stdin.open(), terminal.signal)) {
    for (const [at, query] of queries.entries()) {
      await answer(query, queries.slice(at + 1));
      if (terminal.stdout.isClosed() || terminal.signal.aborted) break;
    }
    if (terminal.stdout.isClosed()) break;
  }
  return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
}

const LF = 0x0a;
/** Anything longer is cut off: no query is a megabyte long. */
const MAX_LINE_BYTES = 1024 * 1024;

/** At most this many lines wait to be searched together. */
const MAX_GROUP = 64;

/**
 * Yields lines as soon as they arrive, in the groups in which they arrive, without LF or CRLF; a last line without an ending counts. Ends
 * quietly when it is interrupted.
 */
export async function* readQueryGroups(
  source: Readable,
  signal: AbortSignal,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<readonly string[]> {
  let pieces: Buffer[] = [];
  let keptBytes = 0;
  const keep = (piece: Buffer): void => {
    const kept = piece.subarray(0, maxLineBytes - keptBytes);
    if (kept.length > 0) pieces.push(kept);
    keptBytes += kept.length;
  };
  const take = (): string => {
    const line = Buffer.concat(pieces).toString();
    pieces = [];
    keptBytes = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  try {
    for await (const data of addAbortSignal(signal, source)) {
      const chunk: Buffer = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
      let start = 0;
      let group: string[] = [];
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
        keep(chunk.subarray(start, end));
        start = end + 1;
        group.push(take());
        if (group.length < MAX_GROUP) continue;
        yield group;
        group = [];
      }
      if (group.length > 0) yield group;
      keep(chunk.subarray(start));
    }
    if (keptBytes > 0) yield [take()];
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type SearchRendering = Rendering & {
  readonly isVerbose: boolean;
  readonly nowMs: number;
  /** What the program is called here, for commands to type next. */
  readonly program: string;
};

const MIN_COLUMNS = 20; // narrower than this, nothing is readable
const INDENT = '  ';

/** For each hit the name for `compact show`, its place (the file once for hits in a row), and the words found, with the text around them. */
export function renderSearchReport(report: SearchReport, rendering: SearchRendering): readonly string[] {
  return report.hits.flatMap((hit, index) => {
    const before = report.hits[index - 1];
    const isSameFile = before?.file === hit.file && (hit.title === null || before.title === hit.title);
    return [...(index === 0 ? [] : ['']), ...renderHit(hit, { ...rendering, isSameFile })];
  });
}

function renderHit(
  hit: SearchHit,
  { theme, widthColumns, isVerbose, nowMs, program, isSameFile }: SearchRendering & { readonly isSameFile: boolean },
): readonly string[] {
  const columns = Math.max(MIN_COLUMNS, widthColumns);
  const inner = columns - INDENT.length;
  const age = hit.at === null ? [] : [formatAge(nowMs - Date.parse(hit.at))];
  const [what, depth] =
    hit.kind === 'message'
      ? [hit.name === null ? hit.role : `${hit.role} ${safeText(hit.name)}`, 0]
      : [`summary of ${countOf(hit.count, 'message')}`, hit.depth];
  const when = hit.at === null ? '' : `, ${formatMinute(hit.at)}`;
  const facts = [`${what}${depth === 0 ? '' : `, depth ${depth}`}${when}`, ...age, safeText(hit.program)];
  const place = hit.kind === 'message' && hit.index !== null ? `, message ${formatCount(hit.index)}` : '';
  const about = clipText(
    [...facts.slice(0, 1), ...(isSameFile && place !== '' ? [place.slice(2)] : []), ...facts.slice(1)].join(', '),
    inner - hit.show.length,
  );
  const more = isVerbose ? [hit.label, hit.conversation, hit.id] : [];
  return [
    `${theme.strong(hit.show)}${INDENT}${about}`,
    ...(isSameFile
      ? []
      : [
          ...(hit.title === null ? [] : [`${INDENT}${clipText(safeText(hit.title), inner)}`]),
          `${INDENT}${theme.faint(`${clipStart(safeText(hit.file), inner - place.length)}${place}`)}`,
        ]),
    ...[...new Set(more)].flatMap((one) => (one === null ? [] : [`${INDENT}${theme.faint(safeText(one))}`])),
    ...markedLines(hit, { columns: inner, paint: theme.match }),
    ...indent(nextOf(hit, program, inner).map(theme.faint)),
  ];
}

/** What to type next: the whole message, and the session, if a program can go on with it. */
function nextOf({ show, file, conversation }: SearchHit, program: string, columns: number): readonly string[] {
  const named = conversation ?? '';
  const session = sessionIdOf(file) ?? (isSessionId(named) ? named : null);
  const resumed = OPENCODE_ID.test(named) ? named : session?.slice(0, ID_DIGITS);
  const resume = resumed === undefined ? [] : [`${program} resume ${resumed}`];
  const commands = [`${program} show ${show}`, ...resume];
  // A command that is cut off is of no use.
  const isShort = (line: string): boolean => textWidth(line) <= columns;
  const all = commands.join(', ');
  return isShort(all) ? [all] : commands.filter(isShort);
}

/** Text in indented lines, with the found words painted; a longer line breaks anywhere. */
function markedLines(
  { text, marks }: SearchHit,
  { columns, paint }: { readonly columns: number; readonly paint: (text: string) => string },
): readonly string[] {
  // None is wider than `columns`.
  const words: Piece[] = [];
  let word: Piece = { text: '', width: 0 };
  const end = (): void => {
    if (word.width > 0) words.push(word);
    word = { text: '', width: 0 };
  };
  const add = (run: string, paintRun: (text: string) => string): void => {
    for (const [index, part] of safeText(run).split(' ').entries()) {
      if (index > 0) end();
      for (const piece of breakText(part, columns)) {
        const width = textWidth(piece);
        if (word.width + width > columns) end();
        word = { text: word.text + paintRun(piece), width: word.width + width };
      }
    }
  };
  let done = 0;
  for (const { start, end: markEnd } of marks) {
    add(text.slice(done, start), String);
    add(text.slice(start, markEnd), paint);
    done = markEnd;
  }
  add(text.slice(done), String);
  end();
  return words.length === 0 ? [] : indent(fillLines(words, columns));
}

function breakText(text: string, columns: number): readonly string[] {
  if (textWidth(text) <= columns) return text === '' ? [] : [text];
  const pieces: string[] = [''];
  let width = 0;
  for (const character of text) {
    const own = textWidth(character);
    const isFull = width + own > columns;
    if (isFull) pieces.push('');
    pieces.push(`${pieces.pop() ?? ''}${character}`);
    width = isFull ? own : width + own;
  }
  return pieces;
}
