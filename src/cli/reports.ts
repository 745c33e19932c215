import type * as archive from '../app/contract/archive-reports.ts';
import type * as files from '../app/contract/reports.ts';
import type { FileState } from '../app/jobs/records.ts';
import type { BatchStatusReport } from '../app/jobs/submit.ts';
import type { QueueReport } from '../app/jobs/work.ts';
import type { InstallReport } from '../app/install/install-client.ts';
import type { ArchiveCheckReport } from '../app/search/check-archive.ts';
import type { ArchiveEmbedReport } from '../app/search/embeddings/embed-archive.ts';
import type { HandOff } from '../app/survey/hand-off.ts';
import type { OutcomesReport } from '../app/survey/list-outcomes.ts';
import type { RulesReport } from '../app/survey/list-rules.ts';
import type { ScanReport } from '../app/survey/scan-file.ts';
import type { ConfigSearch } from '../config/find.ts';
import type { FileTrust } from '../config/load.ts';
import type { Origin } from '../config/origins.ts';
import type { Count, IsoTime, Sha256 } from '../core/units.ts';

export type ConfigReport = {
  readonly schema: 'compact/config@1';
  /** Of the configuration file; null: there is none. */
  readonly path: string | null;
  readonly trust: FileTrust | null;
  readonly ignored: ConfigSearch['ignored'];
  readonly values: readonly ConfigValue[];
  /** What does not apply because the file is not trusted. */
  readonly refused: readonly ConfigValue[];
};

type ConfigValue = { readonly key: string; readonly value: unknown; readonly origin: Origin };

export type ConfigPathReport = {
  readonly schema: 'compact/config-path@1';
  readonly path: string | null;
  readonly looked: readonly string[];
  readonly ignored: ConfigSearch['ignored'];
};

export type ConfigGetReport = ConfigValue & { readonly schema: 'compact/config-get@1' };

/** Of `config init`, `set` and `edit`. */
export type ConfigFileReport = {
  readonly schema: 'compact/config-file@1';
  readonly result: 'created' | 'set' | 'edited' | 'unchanged';
  readonly path: string;
};

export type ConfigTrustReport = {
  readonly schema: 'compact/config-trust@1';
  readonly path: string;
  readonly result: 'trusted' | 'changed' | 'gone' | 'revoked' | 'not-trusted';
  /** Of the content that was trusted, and when that was; missing if the trust is taken back. */
  readonly sha256?: Sha256;
  readonly trustedAt?: IsoTime;
  /** What the file sets, when it becomes trusted. */
  readonly values?: readonly { readonly key: string; readonly value: unknown }[];
};

/** Of `batch submit`, `collect` and `cancel`. */
export type BatchRunReport = {
  readonly schema: 'compact/batch@1';
  readonly action: 'submit' | 'collect' | 'cancel';
  /** What became of transcripts in this run. */
  readonly files: readonly { readonly file: string; readonly state: FileState; readonly note: string | null }[];
  readonly sent: { readonly batches: Count; readonly requests: Count };
  /** Requests that may have been sent in this run: the provider did not confirm them. */
  readonly unclear: Count;
  /** Batches that had not ended when their results were asked for. */
  readonly running: Count;
  /** Fetched in this run. */
  readonly answers: Count;
  /** What the fetched answers cost, and what of all answers to the files of this run came to nothing. Absent: nothing did. */
  readonly usage?: files.UsageReport | undefined;
  readonly wasted?: files.UsageReport | undefined;
  /** Custom ids of answers that nobody asked for. */
  readonly unknown: readonly string[];
  readonly canceled: Count;
  readonly warnings: readonly string[];
  /** What failed, for people. */
  readonly problems: readonly string[];
};

export type WorkAddReport = {
  readonly schema: 'compact/work-add@1';
  readonly added: Count;
  /** Transcripts that had an open or active job already. */
  readonly known: Count;
};

export type WorkRetryReport = {
  readonly schema: 'compact/work-retry@1';
  /** Failed jobs that were put back. */
  readonly retried: Count;
};

/** What sending a conversation to its model once costs, without a cache, now and after a compaction, which is an estimate. */
export type ReadCost = {
  /** @minimum 0 */
  readonly before: number;
  /** @minimum 0 */
  readonly after: number;
  /** The day of the vendors' price list, in US dollars; missing: the prices are those of the configuration. */
  readonly listedOn?: string;
};

/** Null: what its model costs, or its model, is not known. */
export type ScanRow = ScanReport & { readonly cost: ReadCost | null };

/** The transcripts of a project, a program or a month. The figures are sums. */
export type ScanGroup = Pick<ScanRow, 'bytes' | 'netBytes' | 'saving' | 'cost'> & {
  readonly schema: 'compact/scan-by@1';
  /** The project's folder, the program (or the format, where it is not one program's), or the month of the last message (`2026-03`); null: unknown. */
  readonly name: string | null;
  readonly transcripts: Count;
  readonly tokens: files.BeforeAfter;
  /** ISO time of the latest message. */
  readonly at: IsoTime;
};

/** `text`: the whole of it, as Markdown. */
export type HandoffReport = HandOff & { readonly schema: 'compact/handoff@1'; readonly text: string };

/** What each command prints with `--json`. `npm run build` makes the JSON Schemas from it. */
export type Reports = {
  compact: files.CompactReport | files.SkippedFileReport | files.FailedReport;
  score: files.ScoreReport;
  capture: files.CaptureReport | files.SkippedCaptureReport | files.FailedCaptureReport | files.CapturedFileReport;
  restore: files.RestoreReport | files.SkippedRestoreReport | files.FailedRestoreReport | files.RestoreCapturedReport;
  handoff: HandoffReport;
  rules: RulesReport;
  undo: files.UndoReport;
  'undo-list': files.RunReport;
  verify: files.VerifyReport;
  search: archive.SearchReport;
  show: archive.ShowReport;
  batch: BatchRunReport;
  'batch-status': BatchStatusReport;
  'archive-list': archive.ArchiveListReport;
  'archive-backup': archive.ArchiveBackupReport;
  'archive-log': archive.ArchiveLogReport;
  'archive-stats': archive.ArchiveStatsReport;
  'archive-check': ArchiveCheckReport;
  'archive-embed': ArchiveEmbedReport;
  'archive-index': archive.ArchiveIndexReport;
  'archive-grants': archive.ArchiveGrantsReport;
  'archive-hold': archive.ArchiveHoldReport;
  'archive-erase': archive.ArchiveEraseReport;
  'archive-receipts': archive.ArchiveReceiptsReport;
  'archive-merge': archive.ArchiveMergeReport;
  'archive-export': archive.ArchiveExportReport;
  scan: ScanRow;
  'scan-by': ScanGroup;
  work: QueueReport;
  'work-add': WorkAddReport;
  'work-retry': WorkRetryReport;
  install: InstallReport;
  report: OutcomesReport | files.PageReport;
  config: ConfigReport;
  'config-path': ConfigPathReport;
  'config-get': ConfigGetReport;
  'config-file': ConfigFileReport;
  'config-trust': ConfigTrustReport;
};
