import type { MessageShown, SearchHit, ShowReport } from '../../app/contract/archive-reports.ts';
import type { BatchReport } from '../../app/contract/reports.ts';
import type { SearchRequest } from '../../app/contract/requests.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Which part of the archive a server shows; null: no limit. */
export type McpScope = {
  /** A transcript's path, or the end of one. */
  readonly source: string | null;
  /** Only what was said then or later. What has no time is not shown. */
  readonly since: Date | null;
};

export const NOT_SHOWN = 'Nothing that this server shows has that name. memory_read finds what there is.';

/** The request within the scope; the error is for the model that asked for more. */
export function narrowSearch(request: SearchRequest, { source, since }: McpScope): Result<SearchRequest, string> {
  if (source !== null && request.source !== null && request.source !== source) {
    return err('This server shows the conversations of one transcript only: leave source out.');
  }
  const later = since !== null && (request.since === null || request.since < since) ? since : request.since;
  return ok({ ...request, source: source ?? request.source, since: later });
}

/** A summary counts by its beginning: one that reaches back before the time tells of what is not shown. */
export function showsHit(scope: McpScope, hit: SearchHit): boolean {
  return isFrom(scope, hit.file) && isSince(scope, hit.kind === 'batch' ? hit.start : hit.at);
}

export function showsReport(scope: McpScope, report: ShowReport): boolean {
  if (!isFrom(scope, report.file)) return false;
  if (report.kind === 'compaction') return true; // what is behind it is looked at one by one
  return isSince(scope, report.kind === 'batch' ? report.start : report.at);
}

export function showsMessage(scope: McpScope, { file, at }: MessageShown): boolean {
  return isFrom(scope, file) && isSince(scope, at);
}

export function showsBatch(scope: McpScope, { start }: BatchReport): boolean {
  return isSince(scope, start);
}

/** As a search by source does it. */
function isFrom({ source }: McpScope, file: string): boolean {
  return source === null || file === source || file.endsWith(`/${source}`);
}

function isSince({ since }: McpScope, at: string | null): boolean {
  return since === null || (at !== null && new Date(at) >= since);
}
