import { z } from 'zod';
import { assertNever } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { SchemaName } from '../invocation.ts';
import type { Stage } from '../session.ts';

/** JSON Schema (2020-12) of a command's report. */
export async function runSchema({ terminal }: Stage, name: SchemaName): Promise<ExitCode> {
  const schema = z.toJSONSchema(await loadSchema(name));
  terminal.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return EXIT_CODES.done;
}

async function loadSchema(name: SchemaName): Promise<z.ZodType> {
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
