import type { ModelErrorCode, StopReason } from '../../core/model-request.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Result } from '../../core/result.ts';
import type { Price } from '../../ports/model.ts';
import type { BatchChange, BatchRecord, BatchService } from '../../ports/batch.ts';
import type { ModelService, Summarizer, WritingDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { PricedUsage } from '../summarize/usage.ts';
import type { CompactReport } from '../contract/reports.ts';
import type { OutputTarget } from '../contract/requests.ts';

/** What the steps of a batch work with. */
export type BatchDeps = WritingDeps & {
  readonly archive: Archive;
  readonly service: BatchService;
  readonly summarizer: Summarizer & { readonly service: ModelService };
  readonly provider: string;
  /** The price of a batch: half of the model's. */
  readonly priceOf: (model: string) => Promise<Price | undefined>;
  /** Called with what became of a transcript, when that is final. */
  readonly onFile: (done: FinishedFile) => void;
  /** Calls the service; null: it failed, which was reported. */
  readonly ask: <T>(call: () => Promise<T>) => Promise<T | null>;
  /** Reports a failure that does not stop the run. */
  readonly onProblem: (sentence: string) => void;
  /** Reports what people should know, as a sentence. */
  readonly onWarning: (sentence: string) => void;
  /** Called after each step; a test may end the program there. */
  readonly onStep: (step: BatchStep) => void;
};

export type BatchStep =
  | 'planned'
  | 'claimed'
  | 'sent'
  | 'recorded'
  | 'answers-stored'
  | 'answers-recorded'
  | 'collected';

export type FinishedFile = {
  readonly path: string;
  readonly name: string;
  readonly state: FileState;
  readonly result: Result<CompactReport, Failure> | null;
  readonly note: string | null;
  /** Answers that were paid for and came to nothing: they were no good, or nothing became of the file. Undefined: none. */
  readonly wasted?: PricedUsage | undefined;
};

/** left: another program changed the transcript, or there was nothing to do. */
export type FileState = 'planned' | 'waiting' | 'collected' | 'left' | 'failed' | 'canceled';

/** A submitted transcript without its text: requests are built again from the file. */
export type BatchFile = {
  readonly name: string;
  readonly format: string | null;
  readonly output: Extract<OutputTarget, { readonly kind: 'in-place' | 'default' | 'file' }>;
  readonly policy: TranscriptPolicy;
  readonly provider: string;
  /** The base URL that its text may be sent to. */
  readonly address: string;
  readonly model: string;
  /** Which paid summaries it may use: 'masked' or 'plain'. */
  readonly scope: string;
  /** What was read, and under which settings; null: nothing yet. */
  readonly planned: { readonly sizeBytes: number; readonly sha256: string; readonly settingsSha256: string } | null;
  /** The keys of the requests whose answers it needs. */
  readonly waitsFor: readonly string[];
  /** The keys of all requests that were sent for it. */
  readonly asked: readonly string[];
  /** It may only be finished with answers to requests that were sent. */
  readonly isCanceling: boolean;
  /** What became of it, as a clause; null: nothing to say. */
  readonly note: string | null;
};

/** sending: whether it was created is not known. refused: it was not. gone: the results were deleted before they were collected. */
export type BatchState = 'sending' | 'running' | 'ended' | 'collected' | 'refused' | 'gone';

/** A batch that was sent, or is about to be. Times are ISO 8601. */
export type BatchSent = {
  readonly provider: string;
  readonly address: string;
  readonly keyHash: string;
  /** Null: the provider's answer did not arrive. */
  readonly remoteId: string | null;
  readonly requests: number;
  readonly sentAt: string;
  /** From then on the provider lists it if it was created. */
  readonly settlesAt: string;
  /** A path that its sender has locked while it sends; null: other runs cannot see whether the sender is alive. */
  readonly lockedPath: string | null;
  readonly resultsExpireAt: string | null;
  readonly isCanceling: boolean;
  readonly note: string | null;
};

/** again: it will be sent again. */
export type RequestState = 'open' | 'answered' | 'again' | 'failed' | 'canceled';

/** A request without its text. The text of its answer is among the paid summaries. */
export type BatchRequest = {
  readonly model: string;
  /** The mark of its last batch. */
  readonly batch: string;
  /** How many times it was sent. */
  readonly tries: number;
  /** Of an answer. */
  readonly stopReason: StopReason | null;
  readonly error: { readonly code: ModelErrorCode; readonly problem: string } | null;
};

type Values = {
  readonly file: { readonly state: FileState; readonly value: BatchFile };
  readonly batch: { readonly state: BatchState; readonly value: BatchSent };
  readonly request: { readonly state: RequestState; readonly value: BatchRequest };
};
type Kind = keyof Values;
export type RecordOf<K extends Kind> = { readonly key: string } & Values[K];

/** The states in which a transcript still needs work, in an order in which none is met twice: a planned one may begin to wait. */
export const OPEN_FILES: readonly FileState[] = ['waiting', 'planned'];

/** The states in which a provider may still have a batch, or its results. */
export const UNCOLLECTED: readonly BatchState[] = ['sending', 'running', 'ended'];

/** Only this program writes records, so a value has the type of its kind. */
export function toRecord<K extends Kind>({ key, state, value }: BatchRecord): RecordOf<K> {
  const record: unknown = { key, state, value: JSON.parse(value) };
  return record as RecordOf<K>;
}

const PAGE_SIZE = 1000;

/** The records of a kind, or only those in some states, one state after the other. A page of them is in memory. */
export async function* eachRecord<K extends Kind>(
  { providerBatches }: Pick<Archive, 'providerBatches'>,
  kind: K,
  states: readonly Values[K]['state'][] | null = null,
): AsyncGenerator<RecordOf<K>> {
  for (const state of states ?? [null]) {
    for (let after: string | null = ''; after !== null;) {
      const page: readonly BatchRecord[] = await providerBatches.list(kind, { state, after, limit: PAGE_SIZE });
      for (const record of page) yield toRecord<K>(record);
      after = page.length < PAGE_SIZE ? null : (page.at(-1)?.key ?? null);
    }
  }
}

/** The same all at once: for batches, of which there are few. */
export async function listRecords<K extends Kind>(
  archive: Pick<Archive, 'providerBatches'>,
  kind: K,
  states: readonly Values[K]['state'][] | null = null,
): Promise<readonly RecordOf<K>[]> {
  const records: RecordOf<K>[] = [];
  for await (const record of eachRecord(archive, kind, states)) records.push(record);
  return records;
}

export async function findRecords<K extends Kind>(
  { providerBatches }: Pick<Archive, 'providerBatches'>,
  kind: K,
  keys: readonly string[],
): Promise<readonly RecordOf<K>[]> {
  return (await providerBatches.find(kind, keys)).map((record) => toRecord<K>(record));
}

/** A record that is new, or that takes the place of one in the state `from`. */
export function entry<K extends Kind>(
  kind: K,
  { key, state, value }: RecordOf<K>,
  from: Values[K]['state'] | null = null,
): BatchChange {
  return { kind, key, state, value: JSON.stringify(value), from };
}

/** The step of a record, as it was read, to another state, with what changes of its value. */
export function step<K extends Kind>(
  kind: K,
  { key, state: from, value }: RecordOf<K>,
  state: Values[K]['state'],
  changes: Partial<Values[K]['value']> = {},
): BatchChange {
  return { kind, key, state, value: JSON.stringify({ ...value, ...changes }), from };
}

/** Makes all steps at once, or none if a record is in another state by now. Gives whether it did. */
export async function take(
  { archive }: { archive: Pick<Archive, 'providerBatches'> },
  ...steps: readonly BatchChange[]
): Promise<boolean> {
  return archive.providerBatches.change(steps);
}

/** The key under which a batch's answer is kept until it has been checked. */
export function answerKey({ sha256 }: { sha256: (text: string) => string }, requestKey: string): string {
  return sha256(`answer of a batch to ${requestKey}`);
}
