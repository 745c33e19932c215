/** JSON-RPC 2.0's codes for what is no request. */
export const RPC_ERRORS = { parse: -32_700, invalid: -32_600 } as const;

export type RequestId = string | number;

/** The answer to what is no request; `id` null: it could not be read. */
export function rpcError(id: RequestId | null, kind: keyof typeof RPC_ERRORS, message: string): object {
  return { jsonrpc: '2.0', id, error: { code: RPC_ERRORS[kind], message } };
}

type Fields = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly requestId?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
};

/** Of a message that nobody has checked yet. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? value : {};
}

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number';
}

/** A client's answer to a request of ours; never answered itself, however broken. */
export function isResponse(value: unknown): boolean {
  const { method, result, error } = fieldsOf(value);
  return method === undefined && (result !== undefined || error !== undefined);
}
