import type { Count, IsoTime, Ordinal, Sha256 } from '../../core/units.ts';
import type { BatchReport } from './reports.ts';

// The plain data of the commands that find archived things again. `archive` null: there is none yet.

/** Of the words that were looked for, in UTF-16 units of the text; `end` is the first behind. */
export type MarkReport = { readonly start: Count; readonly end: Count };

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
  readonly at: IsoTime | null;
  /** 1-based over the conversation's life. */
  readonly index: Ordinal | null;
  /** Line in the source, from 1. */
  readonly line: Ordinal;
};

export type BatchHit = HitCommon & {
  readonly kind: 'batch';
  /** Its label, as `label`. */
  readonly id: string;
  readonly label: string;
  readonly conversation: string;
  readonly depth: Count;
  readonly count: Count;
  readonly start: IsoTime | null;
  /** The end of what it tells of. */
  readonly at: IsoTime | null;
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
  readonly cycle: Count;
  /** Of the first and the last message, 1-based over the conversation's life. */
  readonly indices: { readonly first: Count; readonly last: Count } | null;
  readonly file: string;
  readonly format: string;
  readonly archivedAt: IsoTime;
  /** A clip-archive speaks of it still. */
  readonly isLive: boolean;
  /** The batches that it was made from; none: it was made from messages. */
  readonly sources: readonly BatchReport[];
  /** Labels of the batches that stand in its place. */
  readonly replacedBy: readonly string[];
  readonly sha256: Sha256;
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
  readonly at: IsoTime | null;
  readonly index: Ordinal | null;
  readonly file: string;
  readonly format: string;
  readonly line: Ordinal;
  readonly archivedAt: IsoTime;
  readonly sha256: Sha256;
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
  readonly archivedAt: IsoTime;
  readonly conversations: readonly { readonly id: string; readonly cycle: Count }[];
  readonly lines: { readonly archived: Count; readonly total: Count };
  /** All that its clip-archives speak of, oldest first. */
  readonly batches: readonly BatchReport[];
  /** Of the source. */
  readonly sha256: Sha256;
};

export type ShowReport = BatchShown | MessageShown | CompactionShown;

export type ArchivedCompactionReport = {
  readonly at: IsoTime;
  readonly file: string;
  readonly output: string | null;
  readonly format: string;
  readonly conversations: readonly { readonly id: string; readonly cycle: Count }[];
  readonly lines: { readonly archived: Count; readonly total: Count };
  readonly bytes: { readonly before: Count; readonly after: Count };
  /** Of the source. */
  readonly sha256: Sha256;
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
  readonly compactions: Count;
  /** Begun, and neither confirmed nor taken back yet. */
  readonly prepared: Count;
  readonly conversations: Count;
  readonly batches: Count;
  readonly lines: Count;
  readonly messages: Count;
  readonly bytes: {
    readonly original: Count;
    readonly packed: Count;
    readonly file: Count;
    /**
     * Of the original, what the archive's file takes; null where nothing is archived.
     * @minimum 0
     */
    readonly share: number | null;
  };
  /** For search by meaning: how many of the messages and batches have one; null: none has. */
  readonly vectors: {
    readonly provider: string;
    readonly model: string;
    readonly dimensions: Count;
    readonly done: Count;
    readonly total: Count;
  } | null;
  readonly oldest: IsoTime | null;
  readonly newest: IsoTime | null;
  readonly formats: readonly {
    readonly format: string;
    readonly compactions: Count;
    readonly lines: Count;
    readonly bytes: Count;
  }[];
};
