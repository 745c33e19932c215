import { z } from 'zod';

/** What can go wrong between a request and a complete answer, before it is classified. */
export type ServiceFailure =
  /** An HTTP status other than success, with the start of its body. */
  | { readonly kind: 'status'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** An error instead of an answer, or in the middle of one. */
  | { readonly kind: 'error-body'; readonly body: unknown }
  /** No answer, or an interrupted one. `codes` come from the system and from fetch, outermost first. */
  | { readonly kind: 'connection'; readonly codes: readonly string[]; readonly detail: string }
  | { readonly kind: 'empty' | 'html' | 'no-json' | 'no-end' | 'too-large' }
  /** JSON of an unexpected shape. */
  | { readonly kind: 'shape'; readonly what: string };

/** Carries a failure out of a call. Its message is constant, because the SDKs parse error messages. */
export class ServiceFailureError extends Error {
  readonly failure: ServiceFailure;

  constructor(failure: ServiceFailure) {
    super('the service did not answer as it should');
    this.name = 'ServiceFailureError';
    this.failure = failure;
  }
}

const MAX_CAUSES = 8; // a deeper chain is a loop

/** The failure behind an error of fetch, of a stream or of an SDK; null: another error. */
export function failureBehind(error: unknown): ServiceFailure | null {
  const chain = causesOf(error);
  const known = chain.find((one) => one instanceof ServiceFailureError);
  if (known !== undefined) return known.failure;
  if (chain.some((one) => one instanceof SyntaxError)) return { kind: 'no-json' };
  return null;
}

/** The failure behind a rejection of fetch, or of the body that it returned. */
export function connectionFailure(error: unknown): ServiceFailure {
  const chain = causesOf(error);
  const codes = chain.flatMap((one) => ('code' in one && typeof one.code === 'string' ? [one.code] : []));
  return { kind: 'connection', codes, detail: chain.at(-1)?.message ?? String(error) };
}

/** The error and its causes; if every address of a host failed, those of the first. */
function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < MAX_CAUSES;) {
    chain.push(one);
    one = one instanceof AggregateError && one.cause === undefined ? one.errors[0] : one.cause;
  }
  return chain;
}

/** What a service says is wrong, wherever it says it in the body. */
export type ErrorBody = {
  /** Null if it contains no message for people. */
  readonly message: string | null;
  readonly type: string | null;
  readonly code: string | null;
  /** The name of the request parameter that is at failure. */
  readonly param: string | null;
  /** An HTTP status inside the body, which OpenRouter sends with a 200. */
  readonly status: number | null;
  /** Everything that may tell the kind of error: its message, and that of an upstream service. */
  readonly text: string;
};

const text = z.string().optional().catch(undefined);
const scalar = z.union([z.string(), z.number()]).nullish().catch(undefined);
const details = z.looseObject({
  message: text,
  type: text,
  code: scalar,
  status: scalar,
  param: z.string().nullish().catch(undefined),
  metadata: z.looseObject({ raw: text }).optional().catch(undefined),
});
const violation = z.looseObject({ msg: text, loc: z.array(z.union([z.string(), z.number()])).catch([]) });
/**
 * `{ error: { … } }` of OpenAI and Anthropic, the inner object alone, `{ detail }` of FastAPI, and Gemini's one-element
 * list.
 */
const envelope = z.looseObject({
  error: z.union([z.string(), details]).optional().catch(undefined),
  detail: z
    .union([z.string(), z.array(violation)])
    .optional()
    .catch(undefined),
});

/** Parses an error's body, given as text or as parsed JSON. Never fails: text of unknown form is the message. */
export function readErrorBody(body: unknown): ErrorBody {
  const value = typeof body === 'string' ? parseJson(body) : body;
  if (value === undefined) return plain(typeof body === 'string' ? body : '');
  const one: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof one === 'string') return plain(one);
  const outer = envelope.safeParse(one);
  if (!outer.success) return plain('');
  const { error, detail } = outer.data;
  if (typeof error === 'string') return plain(error);
  if (error === undefined && detail !== undefined) return fromDetail(detail);
  return fromDetails(error ?? details.parse(one));
}

function fromDetail(detail: string | readonly z.infer<typeof violation>[]): ErrorBody {
  if (typeof detail === 'string') return plain(detail);
  const names = detail.flatMap(({ loc }) => loc.slice(-1)).filter((part) => typeof part === 'string');
  const body = detail.map(({ msg, loc }) => `${loc.join('.')}: ${msg ?? ''}`).join('; ');
  return { ...plain(body), param: names[0] ?? null };
}

function fromDetails({ message, type, code, status, param, metadata }: z.infer<typeof details>): ErrorBody {
  const inner = [code, status].map(Number).find((number) => number >= 400 && number < 600);
  return {
    message: message === undefined || message.trim() === '' ? null : message,
    type: type ?? null,
    code: code === undefined || code === null ? null : String(code),
    param: param ?? null,
    status: inner ?? null,
    text: [message ?? '', metadata?.raw ?? ''].join('\n'),
  };
}

/** A proxy's web page is not maskShown. */
function plain(body: string): ErrorBody {
  const isShown = body.trim() !== '' && !isHtml(body);
  return { message: isShown ? body : null, type: null, code: null, param: null, status: null, text: body };
}

export function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body)\b/i.test(text);
}

export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined; // not JSON
  }
}
