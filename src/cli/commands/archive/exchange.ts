import type { ArchiveMergeReport } from '../../../app/contract/archive-reports.ts';
import type { Failure } from '../../../app/contract/failure.ts';
import { parseBytes, parseSince, parseUntil } from '../../../config/quantity.ts';
import type { Result } from '../../../core/result.ts';
import { defineAction, EXIT_CODES, type ExitCode, type Flag, type Session } from '../../line/command.ts';
import { readTime } from '../../line/flags.ts';
import { renderExport, renderMerge, renderUncollected } from '../../render/archive.ts';
import { absoluteGlob, SELECTOR_FLAGS } from './shared.ts';

export const mergeAction = defineAction({
  summary: 'add everything of other archives',
  takes: [{ syntax: '<archive...>', description: 'the other archives' }],
  refuseOperands: (operands) =>
    operands.length === 0 ? 'name the archives to merge: paths or postgres:// URLs' : null,
  run: async (session: Session, { operands }) =>
    answerMerge(session, await session.useCases.mergeArchives({ others: operands })),
});

function answerMerge(session: Session, merged: Result<ArchiveMergeReport, Failure>): ExitCode {
  if (!merged.ok) return session.fail(merged.error);
  session.reporter.report(renderUncollected(merged.value));
  session.answerUnlessQuiet(merged.value, () => renderMerge(merged.value, session.reporter.answerTheme));
  return EXIT_CODES.done;
}

export const EXPORT_FLAGS = [
  { flags: '--jsonl <folder>', description: 'write JSON Lines into this new or empty folder' },
  {
    flags: '--parquet <folder>',
    description: 'write Parquet tables into this new or empty folder',
    conflicts: 'jsonl',
  },
  { flags: '--since <time>', description: 'archived since this day or time', parse: parseSince },
  {
    flags: '--until <time>',
    description: 'archived until this day, or before this time',
    parse: parseUntil,
  },
] as const satisfies readonly Flag[];

export const exportAction = defineAction({
  summary: 'write what is archived as JSON Lines or Parquet',
  flags: [...SELECTOR_FLAGS, ...EXPORT_FLAGS],
  findConflict: ({ options: { match, message, jsonl, parquet } }) => {
    if ((match ?? message) !== undefined) return 'archive export takes no --match or --message';
    return (jsonl ?? parquet) ? null : 'name a new or an empty folder for the export with --jsonl or --parquet';
  },
  run: async (session: Session, { options }) => {
    const { conversation = null, source, jsonl = '', parquet } = options;
    const exported = await session.useCases.exportArchive({
      folder: parquet ?? jsonl,
      encoding: parquet === undefined ? 'jsonl' : 'parquet',
      filter: {
        conversation,
        source: source === undefined ? null : absoluteGlob(source),
        since: readTime(options.since),
        until: readTime(options.until),
      },
    });
    if (!exported.ok) return session.fail(exported.error);
    session.answerUnlessQuiet(exported.value, () => [renderExport(exported.value)]);
    return EXIT_CODES.done;
  },
});

export const IMPORT_FLAGS = [
  {
    flags: '--max-line <size>',
    description: 'the longest line or group of rows to accept (64MiB)',
    parse: parseBytes,
  },
] as const satisfies readonly Flag[];

export const importAction = defineAction({
  summary: 'add an export',
  flags: IMPORT_FLAGS,
  takes: [{ syntax: '<folder>', description: 'the folder of an export' }],
  refuseOperands: (operands) => (operands.length === 1 ? null : 'name one folder to import: that of an export'),
  run: async (session: Session, { operands, options }) => {
    const request = { folder: operands[0] ?? '', maxLineBytes: options.maxLine ?? null };
    return answerMerge(session, await session.useCases.importArchive(request));
  },
});
