import { z } from 'zod';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { CompactReport } from '../../app/contract/reports.ts';
import { toModel } from '../../config/resolve.ts';
import type { CompactFileRequest, OutputTarget } from '../../app/contract/requests.ts';
import { err, ok, type Result, systemCode } from '../../core/result.ts';
import {
  type CompactRendering,
  renderCompactReport,
  renderRestoring,
  sumChanges,
  sumTokens,
} from '../render/compact.ts';
import { renderFailure } from '../../messages/failure.ts';
import { safeText } from '../../messages/text.ts';
import { PLAIN_THEME } from '../render/theme.ts';
import { archiveToName, policyOf } from '../runs/compact.ts';
import { createEmbeddingsIfAny, createSummarizer } from '../runs/services.ts';
import type { Session } from '../session.ts';
import { compactedPath } from '../../compose/transcript-files.ts';
import { clipField, defineTool, type Tool, type ToolAnswer, type ToolOutcome } from './tool.ts';
import type { FileFailure } from '../../ports/files.ts';
import { toFileFailure } from '../../system/files.ts';

const DESCRIPTION = `Makes a stored transcript smaller: its recent messages stay byte for byte, older ones become a summary at the top, and every removed line goes into the archive, where memory_read finds it and from which the original can be restored byte for byte.

Use it when the user asks for it. It cannot compact the session that you are in, because the program that runs it has the file open. By default the result is a new file beside the transcript (NAME.compact.jsonl) and the transcript stays as it is; in_place replaces it. dry_run only reports what would be saved.`;

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe('the transcript: an absolute path, or a path relative to one of the allowed folders'),
  keep_recent: z.int().min(0).optional().describe('keep at least this many messages at the end'),
  target: z
    .int()
    .min(1)
    .optional()
    .describe('in tokens: compact the least important messages, and only as many as needed to fit'),
  in_place: z.boolean().default(false).describe('replace the transcript instead of writing a new file'),
  dry_run: z.boolean().default(false).describe('report what would be done, and write nothing'),
});

type Args = z.output<typeof input>;

/** Does what `compact FILE` does, in the folders that the server was started with; null: nowhere. */
export function createCompactContext(session: Session, folders: readonly AllowedFolder[] | null): Tool {
  const { summarization, embedding } = session.settings;
  const asksService = summarization.provider !== 'extractive' || embedding.provider !== null;
  return defineTool({
    name: 'compact_context',
    title: 'Compact a transcript',
    description: DESCRIPTION,
    input,
    // Nothing is lost, but in_place replaces a file. With a model, the call may use a service.
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: asksService },
    isOffered: folders !== null,
    call: async (args, signal) => {
      if (folders === null) return err(NOT_ALLOWED);
      const opened = openAllowed(args.path, folders);
      if (!opened.ok) return opened;
      const { path, identity, close } = opened.value;
      const useCases = session.openUseCases(signal);
      try {
        const output = findOutput(path, args, folders);
        if (!output.ok) return output;
        const file = { input: { path, name: path, format: null, identity }, output: output.value };
        return await compact({ ...session, useCases }, args, file);
      } finally {
        await useCases.close();
        close();
      }
    },
  });
}

const NOT_ALLOWED =
  'compact_context is not allowed here, so nothing was done. Ask the user to start the server as `compact mcp --allow-compact FOLDER…`, or to run `compact FILE`.';

function findOutput(
  real: string,
  { in_place, dry_run }: Args,
  folders: readonly AllowedFolder[],
): Result<OutputTarget, string> {
  if (dry_run) return ok({ kind: 'none' });
  if (in_place) return ok({ kind: 'in-place' });
  const output = compactedPath(real);
  if (leadsOutside(output, folders)) {
    return err(`${safeText(output)}: it is a link that leads out of the allowed folders. Remove it, or use in_place.`);
  }
  return ok({ kind: 'default', path: output });
}

async function compact(session: Session, args: Args, file: Pick<CompactFileRequest, 'input' | 'output'>): ToolOutcome {
  const { settings, useCases, terminal } = session;
  const configured = policyOf(session, { target: args.target });
  const policy =
    args.keep_recent === undefined
      ? configured
      : { ...configured, compaction: { ...configured.compaction, keepRecent: args.keep_recent } };
  const { compaction } = policy;
  const summarizer = await createSummarizer(session, { isDryRun: args.dry_run, compaction });
  if (!summarizer.ok) {
    session.refuse(summarizer.error);
    return err(safeText(summarizer.error));
  }
  const instead = 'archived texts get none';
  const embeddings = args.dry_run ? null : await createEmbeddingsIfAny(session, { instead });
  const request = { ...file, policy, ...toModel(settings), summarizer: summarizer.value, embeddings };
  const compacted = await useCases.compactFile(request, { update: () => undefined, finish: () => undefined });
  if (!compacted.ok) return err(renderFailure(compacted.error));
  const rendering = {
    theme: PLAIN_THEME,
    isVerbose: false,
    archiveFlag: archiveToName(session),
    program: terminal.program(),
    isInPlace: args.in_place,
    widthColumns: terminal.stderr.widthColumns,
  };
  return ok(answerCompacted(compacted.value, rendering));
}

/** A note is a sentence; a transcript of many conversations may have one for each of them. */
const MAX_NOTES = 10;

/** The figures of a compaction, with the command line's output as text. Its size does not grow with the number of conversations. */
function answerCompacted(report: CompactReport, rendering: CompactRendering): ToolAnswer {
  const notes = [...new Set(report.notes)].slice(0, MAX_NOTES).map(clipField);
  const { file, format, result, reason, output, conversations, ledger, archive, plan, usage, bytes } = report;
  const tokens = sumTokens(report);
  const figures = {
    messages: sumChanges(conversations, ({ messages }) => messages),
    tokens: { ...tokens, saved: tokens.before - tokens.after },
    bytes,
    lines: ledger,
    conversations: conversations.length,
    summaries: conversations.reduce((count, { batches }) => count + batches.length, 0),
    cycles: Math.max(0, ...conversations.map(({ cycles }) => cycles)),
  };
  const planned = plan === undefined ? {} : { requests: plan.requests, cost: plan.cost };
  return {
    text: renderCompactReport({ ...report, notes }, rendering).join('\n'),
    data: {
      result,
      ...(reason === undefined ? {} : { reason }),
      file,
      format,
      output,
      ...figures,
      archive,
      restore: renderRestoring(report, rendering),
      ...planned,
      ...(usage === undefined || usage.inputTokens === 0 ? {} : { usage }),
      notes,
    },
  };
}

/** A folder that the server may work in: as the user named it, and its real path. */
export type AllowedFolder = { readonly named: string; readonly real: string };

/** The error is a sentence about the line that names them. */
export function resolveFolders(
  folders: readonly string[],
  workingFolder: string,
): Result<readonly AllowedFolder[], string> {
  const resolved: AllowedFolder[] = [];
  for (const folder of folders) {
    const one = resolveFolder(folder, workingFolder);
    if (!one.ok) return err(renderFailure({ kind: 'file', failure: one.error }));
    resolved.push(one.value);
  }
  return ok(resolved);
}

export function resolveFolder(folder: string, workingFolder: string): Result<AllowedFolder, FileFailure> {
  const named = resolve(workingFolder, folder);
  try {
    const real = realpathSync.native(named);
    if (!statSync(real).isDirectory()) return err({ kind: 'not-a-file', path: folder, is: 'a file, not a folder' });
    return ok({ named, real });
  } catch (error) {
    return err(toFileFailure(error, { path: folder, what: 'read', isFolder: true }));
  }
}

/**
 * Resolves a path to a file inside one of the folders, whatever links and `..` it contains. A relative path is looked up in
 * each of them. The error says what is wrong; for a path outside it does not reveal whether the file exists.
 */
export function resolveAllowed(path: string, folders: readonly AllowedFolder[]): Result<string, string> {
  if (path === '' || path.includes('\0')) return err('The path is empty or contains a NUL. Name a transcript.');
  const candidates = isAbsolute(path) ? [resolve(path)] : folders.map(({ named }) => resolve(named, path));
  let missing: FileFailure | null = null;
  for (const candidate of candidates) {
    const real = realPath(candidate);
    if (real.ok && !isInside(real.value, folders)) continue;
    if (real.ok) return checkFile(real.value, path);
    if (isNamedInside(candidate, folders)) missing ??= { ...real.error, path };
  }
  return err(missing === null ? outside(path, folders) : renderFailure({ kind: 'file', failure: missing }));
}

/** An open file inside the folders: while it is open, no other file has the same device and inode numbers. */
export type AllowedFile = {
  readonly path: string;
  readonly identity: { readonly device: bigint; readonly inode: bigint };
  readonly close: () => void;
};

/**
 * Resolves a path once, opens it, and checks where the descriptor leads, so that swapping folders or links meanwhile gives no access to
 * anything outside. Whoever reads the file later compares its identity.
 */
export function openAllowed(path: string, folders: readonly AllowedFolder[]): Result<AllowedFile, string> {
  const resolved = resolveAllowed(path, folders);
  if (!resolved.ok) return resolved;
  const real = resolved.value;
  let descriptor: number;
  try {
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === 'ELOOP') return err(outside(path, folders));
    return err(
      renderFailure({ kind: 'file', failure: { ...toFileFailure(error, { path: real, what: 'read' }), path } }),
    );
  }
  const close = (): void => closeSync(descriptor);
  const { dev: device, ino: inode } = fstatSync(descriptor, { bigint: true });
  const identity = { device, inode };
  if (fstatSync(descriptor).isFile() && leadsInside(descriptor, { real, identity, folders })) {
    return ok({ path: real, identity, close });
  }
  close();
  return err(outside(path, folders));
}

/** Without /proc (macOS, Windows), the path must lead to the same file a second time. */
function leadsInside(
  descriptor: number,
  {
    real,
    identity,
    folders,
  }: Pick<AllowedFile, 'identity'> & {
    readonly real: string;
    readonly folders: readonly AllowedFolder[];
  },
): boolean {
  const link = `/proc/self/fd/${descriptor}`;
  if (existsSync('/proc/self/fd')) return isInside(readlinkSync(link), folders);
  const again = realPath(real);
  if (!again.ok || !isInside(again.value, folders)) return false;
  const found = lstatSync(again.value, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.dev === identity.device && found.ino === identity.inode;
}

/** Whether writing there stays inside the folders: an existing output may be a link that leads out of them. */
export function leadsOutside(output: string, folders: readonly AllowedFolder[]): boolean {
  if (lstatSync(output, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
  const real = realPath(output);
  return !real.ok || !isInside(real.value, folders);
}

function realPath(path: string): Result<string, FileFailure> {
  try {
    return ok(realpathSync.native(path));
  } catch (error) {
    return err(toFileFailure(error, { path, what: 'read' }));
  }
}

/** A pipe or a device is never opened: that could wait forever. */
function checkFile(real: string, path: string): Result<string, string> {
  const found = statSync(real, { throwIfNoEntry: false });
  if (found?.isFile() === true) return ok(real);
  const is = found?.isDirectory() === true ? 'a folder' : 'neither a file nor a folder';
  const failure: FileFailure = found === undefined ? { kind: 'not-found', path } : { kind: 'not-a-file', path, is };
  return err(renderFailure({ kind: 'file', failure }));
}

/** Whether nothing is where a path leads, which is said only of a path inside the folders. */
export function isMissingInside(path: string, folders: readonly AllowedFolder[]): boolean {
  const real = realPath(path);
  return !real.ok && real.error.kind === 'not-found' && isNamedInside(path, folders);
}

function isInside(real: string, folders: readonly AllowedFolder[]): boolean {
  return folders.some((folder) => isBelow(real, folder.real));
}

function isNamedInside(path: string, folders: readonly AllowedFolder[]): boolean {
  return folders.some(({ named, real }) => isBelow(path, named) || isBelow(path, real));
}

/** Also true for the folder itself: the caller then reports that it is not a file. */
function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(path: string, folders: readonly AllowedFolder[]): string {
  const names = folders.map(({ named }) => safeText(named)).join(', ');
  return `${safeText(path)}: outside the allowed folders (${names}). Name a transcript inside them.`;
}
