import type { Archive, ArchiveFailure } from '../../../ports/archive.ts';

/** What a client of an archive in another thread asks. Every request is answered once, with its id. */
export type Request = { readonly id: number } &
  /** A method that gives one value: `findSame`, `messages.countHits`. */
  (
    | { readonly kind: 'call'; readonly method: string; readonly args: readonly unknown[] }
    /** A method that gives an iterable. The answer is the number under which `next` and `stop` know it. */
    | { readonly kind: 'iterate'; readonly method: string; readonly args: readonly unknown[] }
    | { readonly kind: 'next'; readonly iterator: number }
    | { readonly kind: 'stop'; readonly iterator: number }
    /** A method that gives a writer. The answer is its number; null: the method gave none. */
    | { readonly kind: 'begin'; readonly method: string; readonly args: readonly unknown[] }
    | { readonly kind: 'write'; readonly writer: number; readonly step: WriterStep; readonly args: readonly unknown[] }
    /** Begins and ends work on one state. */
    | { readonly kind: 'enter-state' }
    | { readonly kind: 'leave-state' }
  );

type WriterStep = 'append' | 'commit' | 'abandon';

export type Answer = { readonly id: number } & (
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: SentError }
);

/** The first message to a client. */
export type Greeting = { readonly kind: 'greeting'; readonly methods: readonly string[] } & Pick<
  Archive,
  'path' | 'isReadOnly' | 'isReadableWhileStoring'
>;

/** `failure`: that of an `ArchiveError`. */
export type SentError = {
  readonly message: string;
  readonly stack: string | null;
  readonly failure: ArchiveFailure | null;
};

/** What makes an iterator's answer: null ends it. */
export type NextItem = { readonly item: unknown } | null;
