import type { ZodType } from 'zod';
import { assertNever } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { CliContext } from '../session.ts';
import { defineCommand } from './command.ts';

const SCHEMA_NAMES = [
  'compact',
  'score',
  'restore',
  'verify',
  'search',
  'show',
  'archive-list',
  'archive-stats',
  'archive-check',
  'archive-embed',
  'scan',
] as const;
type SchemaName = (typeof SCHEMA_NAMES)[number];

export type SchemaInvocation = { readonly kind: 'schema'; readonly of: SchemaName };

export const schemaCommand = defineCommand<SchemaInvocation>({
  operands: { syntax: '<command>', description: 'whose --json is described', choices: [...SCHEMA_NAMES, 'run'] },
  flags: [],
  read: ({ args }) => ({ kind: 'schema', of: readName(args[0] ?? '') }),
  run,
});

/** `run` is the default command's other name. */
function readName(name: string): SchemaName {
  return SCHEMA_NAMES.find((known) => known === name) ?? 'compact';
}
/** JSON Schema (2020-12) of a command's report. */
async function run({ terminal }: CliContext, { of: name }: SchemaInvocation): Promise<ExitCode> {
  const { z } = await import('zod');
  const schema = z.toJSONSchema(await loadSchema(name));
  terminal.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return EXIT_CODES.done;
}

async function loadSchema(name: SchemaName): Promise<ZodType> {
  switch (name) {
    case 'compact':
      return (await import('../schemas/compact.ts')).compactReportSchema;
    case 'score':
      return (await import('../schemas/score.ts')).scoreReportSchema;
    case 'restore':
      return (await import('../schemas/restore.ts')).restoreReportSchema;
    case 'verify':
      return (await import('../schemas/verify.ts')).verifyReportSchema;
    case 'search':
      return (await import('../schemas/search.ts')).searchReportSchema;
    case 'show':
      return (await import('../schemas/show.ts')).showReportSchema;
    case 'archive-list':
      return (await import('../schemas/archive-list.ts')).archiveListReportSchema;
    case 'archive-stats':
      return (await import('../schemas/archive-stats.ts')).archiveStatsReportSchema;
    case 'archive-check':
      return (await import('../schemas/archive-check.ts')).archiveCheckReportSchema;
    case 'archive-embed':
      return (await import('../schemas/archive-embed.ts')).archiveEmbedReportSchema;
    case 'scan':
      return (await import('../schemas/scan.ts')).scanReportSchema;
    default:
      return assertNever(name);
  }
}
