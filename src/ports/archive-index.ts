import type { Role } from '../core/message.ts';
import type { MessageTraits } from '../core/search/query-hints.ts';

/** What the search index does not have yet. */
export type IndexBacklog = {
  /** Archived messages, and captured lines, which may be messages. */
  readonly messages: number;
  readonly bytes: number;
};

/** A line that may be a message. */
export type UnindexedLine = {
  /** As in a `MessageIndex`. */
  readonly lineId: number;
  readonly format: string;
  /** 1-based, in the source; of a captured line, anything. */
  readonly line: number;
  /** The beginning, as much of it as search looks in. */
  readonly bytes: Uint8Array;
};

/** Lines that are taken into the index together. */
export type IndexSlice = IndexBacklog & {
  readonly lines: readonly UnindexedLine[];
  /** Runs of lines by their first ids. */
  readonly runs: readonly number[];
  /** Where the next slice begins. */
  readonly next: IndexCursor;
};

/** Archived lines come before captured ones, each newest first. `before`: the first id of the last run; null: begin. */
export type IndexCursor = { readonly kind: 'archived' | 'captured'; readonly before: number | null };

/** What is known of a captured message: an archived one has that beside its line. */
export type CapturedFacts = {
  readonly role: Role;
  readonly at: Date | null;
  readonly name: string | null;
  readonly traits: MessageTraits;
};

/** `text`: what search looks in. `captured`: null for an archived line. */
export type IndexedMessage = {
  readonly lineId: number;
  readonly text: string;
  readonly captured: CapturedFacts | null;
};

/** Takes stored lines into the search index, some at a time. What is stored is durable without it. */
export type SearchIndexer = {
  readonly measure: () => Promise<IndexBacklog>;
  /** At least one run of lines, and about `maxBytes`; null: there is nothing after the cursor. Unfinished compactions and damaged blocks are left out. */
  readonly read: (from: IndexCursor, maxBytes: number) => Promise<IndexSlice | null>;
  /** Adds the messages of a slice, all or none: those that nobody else has added or erased since. */
  readonly add: (slice: IndexSlice, messages: readonly IndexedMessage[]) => Promise<void>;
};
