import { fieldsOf, isRequestId, isResponse, type RequestId, rpcError } from './rpc.ts';

/** A client that has more to ask sends several batches. */
const MAX_REQUESTS = 100;

type Batch = { readonly waiting: Set<RequestId>; readonly answers: unknown[]; isRead: boolean };

export type Batches = {
  /** Hands over each request of a batch. */
  readonly read: (values: readonly unknown[], deliver: (value: unknown) => void) => void;
  /** Keeps an answer to a request of a batch until the others are there; false: it belongs to none. */
  readonly take: (id: unknown, answer: unknown) => boolean;
  /** The client withdrew the request: its batch does not wait for it. */
  readonly withdraw: (id: unknown) => void;
};

/** Batches of JSON-RPC, as protocol 2025-03-26 has them: requests in an array, and their answers in one. `write` gets what is to be sent. */
export function createBatches(write: (value: unknown) => void): Batches {
  const batchOf = new Map<unknown, Batch>();
  const finish = (batch: Batch): void => {
    if (batch.isRead && batch.waiting.size === 0 && batch.answers.length > 0) write(batch.answers);
  };
  const settle = (id: unknown, answer?: unknown): boolean => {
    const batch = batchOf.get(id);
    if (batch === undefined || !isRequestId(id)) return false;
    batchOf.delete(id);
    batch.waiting.delete(id);
    if (answer !== undefined) batch.answers.push(answer);
    finish(batch);
    return true;
  };
  return {
    read: (values, deliver) => {
      if (values.length === 0 || values.length > MAX_REQUESTS) {
        return write(rpcError(null, 'invalid', `A batch has 1 to ${MAX_REQUESTS} requests`));
      }
      const batch: Batch = { waiting: new Set(), answers: [], isRead: false };
      for (const value of values) {
        const { id, method } = fieldsOf(value);
        if (!isRequestId(id)) {
          if (typeof method === 'string' || isResponse(value)) deliver(value);
          else batch.answers.push(rpcError(null, 'invalid', 'Not a JSON-RPC 2.0 message'));
        } else if (isResponse(value)) {
          deliver(value);
        } else if (batchOf.has(id)) {
          batch.answers.push(rpcError(id, 'invalid', 'Another request has this id'));
        } else {
          batch.waiting.add(id);
          batchOf.set(id, batch);
          deliver(value);
        }
      }
      batch.isRead = true;
      finish(batch);
    },
    take: settle,
    withdraw: (id) => void settle(id),
  };
}
