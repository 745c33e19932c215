import type { ModelErrorCode, ModelRequest, ModelResponse } from '../core/model-request.ts';

/** A batch as its provider sees it. */
export type RemoteBatch = {
  readonly id: string;
  readonly status: 'running' | 'canceling' | 'ended';
  /** When the results are deleted; null: not known yet. */
  readonly resultsExpireAt: Date | null;
  /** Why the provider refused the whole batch after it was created; null: it did not. */
  readonly problem: string | null;
};

/** What became of one request. again: it was not answered, costs nothing, and may be sent again. */
export type BatchOutcome =
  | { readonly kind: 'answered'; readonly response: ModelResponse }
  | { readonly kind: 'failed'; readonly code: ModelErrorCode; readonly problem: string }
  | { readonly kind: 'again'; readonly problem: string }
  | { readonly kind: 'canceled' };

export type BatchResult = { readonly customId: string; readonly outcome: BatchOutcome };

/** How long a call may take: sending or fetching a whole batch takes long on a slow line. */
export const MAX_BATCH_CALL_MS = 60 * 60_000;

/** A batch that was sent, or was about to be when the program was killed. */
type BatchIntent = {
  /** A word of our own, which a provider may store with the batch. */
  readonly mark: string;
  readonly sentAt: Date;
  readonly requests: number;
};

type FoundBatch =
  | { readonly kind: 'found'; readonly batch: RemoteBatch }
  /** It was never created. */
  | { readonly kind: 'absent' }
  /** These batches may be it; that can be said when they have ended. */
  | { readonly kind: 'unclear'; readonly ids: readonly string[] };

/**
 * The batch API of a provider. Methods reject with a `ModelError`, and none of them repeats a call. Results may be asked for as often as one
 * likes.
 */
export type BatchService = {
  /** The base URL, without a password. */
  readonly address: string;
  /** Tells keys apart, without revealing them. */
  readonly keyHash: string;
  readonly maxRequests: number;
  readonly maxBytes: number;
  /** One request as a line of JSON. `customId` has at most 64 letters, digits, `_` and `-`. */
  readonly write: (customId: string, request: ModelRequest) => string;
  /** refused: nothing was created. If it rejects, that is not known, and `find` tells later. */
  readonly create: (
    intent: BatchIntent,
    lines: readonly string[],
  ) => Promise<RemoteBatch | { readonly refused: string }>;
  /** `isOurs` tells whether a custom id belongs to the batch; `known` are ids of other batches of ours. */
  readonly find: (
    intent: BatchIntent,
    others: { readonly isOurs: (customId: string) => Promise<boolean>; readonly known: ReadonlySet<string> },
  ) => Promise<FoundBatch>;
  /** Null: the provider does not know it: it was deleted, or belongs to another account. */
  readonly look: (id: string) => Promise<RemoteBatch | null>;
  /** Hands over the results, in any order. False: the provider does not know them. */
  readonly results: (id: string, take: (result: BatchResult) => Promise<void>) => Promise<boolean>;
  readonly cancel: (id: string) => Promise<RemoteBatch>;
};

/** A record of what is known of batches. `value` is JSON; `key`: a file's absolute path, a batch's mark, or a request's key. */
export type BatchRecord = {
  readonly kind: 'file' | 'batch' | 'request';
  readonly key: string;
  readonly state: string;
  readonly value: string;
};

/** `from`: the state in which the record must be; null: there must be none. */
export type BatchChange = BatchRecord & { readonly from: string | null };

/** The records behind the key `after`, at most `limit` of them. `state` null: in any state. */
export type RecordPage = { readonly state: string | null; readonly after: string; readonly limit: number };

/** What is known of batches, so that it survives a kill at any moment. */
export type BatchRecords = {
  /** In the order of their keys. */
  readonly list: (kind: BatchRecord['kind'], page: RecordPage) => Promise<readonly BatchRecord[]>;
  /** Those of the keys that there are, in any order. */
  readonly find: (kind: BatchRecord['kind'], keys: readonly string[]) => Promise<readonly BatchRecord[]>;
  /** Makes all changes at once, or none if a record is in another state by now. Gives whether it did. */
  readonly change: (changes: readonly BatchChange[]) => Promise<boolean>;
};
