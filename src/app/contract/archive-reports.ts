import type { BatchReport } from './reports.ts';

/** The plain data of the commands that find archived things again. Times are ISO; `archive` null: there is none yet. */

/** Of the words that were looked for, in UTF-16 units of the text; `end` is the first behind. */
export type MarkReport = { readonly start: number; readonly end: number };

type HitCommon = {
  /** What `compact show` takes: `message:N`, `batch:N`. */
  readonly show: string;
  /** The source, from the root. */
  readonly file: string;
  /** The higher the better; null where the newest come first. A batch's is brought to the scale of the messages'. */
  readonly score: number | null;
  /** An excerpt around the words found. */
  readonly text: string;
  readonly marks: readonly MarkReport[];
};

export type MessageHit = HitCommon & {
  readonly kind: 'message';
  /** Its own id in the transcript, else `line:N`. */
  readonly id: string;
  /** The batch that it was summarized in. */
  readonly label: string | null;
  readonly conversation: string | null;
  readonly role: string;
  readonly name: string | null;
  readonly at: string | null;
  /** 1-based over the conversation's life. */
  readonly index: number | null;
  /** Line in the source, from 1. */
  readonly line: number;
};

export type BatchHit = HitCommon & {
  readonly kind: 'batch';
  /** Its label, as `label`. */
  readonly id: string;
  readonly label: string;
  readonly conversation: string;
  readonly depth: number;
  readonly count: number;
  readonly start: string | null;
  /** The end of what it tells of. */
  readonly at: string | null;
};

export type SearchHit = MessageHit | BatchHit;

export type SearchReport = {
  readonly schema: 'compact/search@1';
  readonly query: string;
  readonly hits: readonly SearchHit[];
  readonly archive: string | null;
  /** Why there is no answer; only where one query among many failed. */
  readonly error?: string;
};

export type BatchShown = BatchReport & {
  readonly schema: 'compact/show@1';
  readonly kind: 'batch';
  readonly show: string;
  readonly conversation: string;
  /** The compaction of the conversation that made it, from 1. */
  readonly cycle: number;
  /** Of the first and the last message, 1-based over the conversation's life. */
  readonly indices: { readonly first: number; readonly last: number } | null;
  readonly file: string;
  readonly format: string;
  readonly archivedAt: string;
  /** A clip-archive speaks of it still. */
  readonly isLive: boolean;
  /** The batches that it was made from; none: it was made from messages. */
  readonly sources: readonly BatchReport[];
  /** Labels of the batches that stand in its place. */
  readonly replacedBy: readonly string[];
  readonly sha256: string;
  readonly text: string;
};

export type MessageShown = {
  readonly schema: 'compact/show@1';
  readonly kind: 'message';
  readonly show: string;
  readonly id: string | null;
  readonly label: string | null;
  readonly conversation: string | null;
  /** Null: the line is no message. */
  readonly role: string | null;
  readonly name: string | null;
  readonly at: string | null;
  readonly index: number | null;
  readonly file: string;
  readonly format: string;
  readonly line: number;
  readonly archivedAt: string;
  readonly sha256: string;
  /** What was said, without what its format puts around it. */
  readonly text: string;
  /** The line as it stood, its ending included; base64 where it is no UTF-8. */
  readonly original: { readonly encoding: 'utf-8' | 'base64'; readonly data: string };
};

/** A compaction, by the key in the last line of its clip-archives. */
export type CompactionShown = {
  readonly schema: 'compact/show@1';
  readonly kind: 'compaction';
  readonly show: string;
  readonly file: string;
  readonly output: string | null;
  readonly format: string;
  readonly archivedAt: string;
  readonly conversations: readonly { readonly id: string; readonly cycle: number }[];
  readonly lines: { readonly archived: number; readonly total: number };
  /** All that its clip-archives speak of, oldest first. */
  readonly batches: readonly BatchReport[];
  /** Of the source. */
  readonly sha256: string;
};

export type ShowReport = BatchShown | MessageShown | CompactionShown;

export type ArchivedCompactionReport = {
  readonly at: string;
  readonly file: string;
  readonly output: string | null;
  readonly format: string;
  readonly conversations: readonly { readonly id: string; readonly cycle: number }[];
  readonly lines: { readonly archived: number; readonly total: number };
  readonly bytes: { readonly before: number; readonly after: number };
  /** Of the source. */
  readonly sha256: string;
};

export type ArchiveListReport = {
  readonly schema: 'compact/archive-list@1';
  readonly archive: string | null;
  /** Newest first. */
  readonly compactions: readonly ArchivedCompactionReport[];
};

export type ArchiveStatsReport = {
  readonly schema: 'compact/archive-stats@1';
  readonly archive: string | null;
  readonly compactions: number;
  /** Begun, and neither confirmed nor taken back yet. */
  readonly prepared: number;
  readonly conversations: number;
  readonly batches: number;
  readonly lines: number;
  readonly messages: number;
  /** `share`: of the file in the original; null where nothing is archived. */
  readonly bytes: {
    readonly original: number;
    readonly packed: number;
    readonly file: number;
    readonly share: number | null;
  };
  /** For search by meaning: how many of the messages and batches have one; null: none has. */
  readonly vectors: {
    readonly provider: string;
    readonly model: string;
    readonly dimensions: number;
    readonly done: number;
    readonly total: number;
  } | null;
  readonly oldest: string | null;
  readonly newest: string | null;
  readonly formats: readonly {
    readonly format: string;
    readonly compactions: number;
    readonly lines: number;
    readonly bytes: number;
  }[];
};
