import type {
  ArchiveListReport,
  ArchiveStatsReport,
  SearchReport,
  ShowReport,
} from '../app/contract/archive-reports.ts';
import type {
  CapturedFileReport,
  CaptureReport,
  FailedCaptureReport,
  RestoreCapturedReport,
  SkippedCaptureReport,
} from '../app/contract/capture-reports.ts';
import type {
  CompactReport,
  FailedReport,
  FailedRestoreReport,
  PageReport,
  RestoreReport,
  ScoreReport,
  SkippedFileReport,
  SkippedRestoreReport,
  VerifyReport,
} from '../app/contract/reports.ts';
import type { RunReport, UndoReport } from '../app/contract/undo-reports.ts';
import type { InstallReport } from '../app/install/install-client.ts';
import type { ArchiveCheckReport } from '../app/search/check-archive.ts';
import type { ArchiveEmbedReport } from '../app/search/embeddings/embed-archive.ts';
import type { DiffReport } from '../app/survey/diff-file.ts';
import type { ScanReport } from '../app/survey/scan-file.ts';

/** What each command prints with `--json`. `npm run build` makes the JSON Schemas from it. */
export type Reports = {
  compact: CompactReport | SkippedFileReport | FailedReport;
  score: ScoreReport;
  capture: CaptureReport | SkippedCaptureReport | FailedCaptureReport | CapturedFileReport;
  restore: RestoreReport | SkippedRestoreReport | FailedRestoreReport | RestoreCapturedReport;
  diff: DiffReport;
  undo: UndoReport;
  'undo-list': RunReport;
  verify: VerifyReport;
  search: SearchReport;
  show: ShowReport;
  'archive-list': ArchiveListReport;
  'archive-stats': ArchiveStatsReport;
  'archive-check': ArchiveCheckReport;
  'archive-embed': ArchiveEmbedReport;
  scan: ScanReport;
  install: InstallReport;
  page: PageReport;
};
