import { parseSince, parseUntil } from '../../../config/quantity.ts';
import { renderExport } from '../../render/archive.ts';
import { defineAction, EXIT_CODES, type Session, type Flag } from '../../line/command.ts';
import { readTime } from '../../line/flags.ts';
import { absoluteGlob, SELECTOR_FLAGS } from './shared.ts';

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
