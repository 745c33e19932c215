import { z } from 'zod';

/** What can go wrong between a request and a whole answer, before anybody has judged it. */
export type Fault =
  /** An HTTP status that is no success, with the beginning of its body. */
  | { readonly kind: 'status'; readonly status: number; readonly headers: Headers; readonly body: string }
  /** An error in the place of an answer, or in the middle of one. */
  | { readonly kind: 'error-body'; readonly body: unknown }
  /** No answer, or one that broke off. `codes` are those of the system and of fetch, outermost first. */
  | { readonly kind: 'connection'; readonly codes: readonly string[]; readonly detail: string }
  | { readonly kind: 'empty' | 'html' | 'no-json' | 'no-end' | 'too-large' }
  /** JSON that is no answer of this kind of service. */
  | { readonly kind: 'shape'; readonly what: string };

/** Carries a fault out of a call. Its message is the same for all, because the SDKs read messages of errors. */
export class ServiceFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super('the service did not answer as it should');
    this.name = 'ServiceFault';
    this.fault = fault;
  }
}

const MAX_CAUSES = 8; // deeper chains are loops

/** The fault behind an error of fetch, of a stream or of an SDK; null for an error that is none of theirs. */
export function faultBehind(error: unknown): Fault | null {
  const chain = causesOf(error);
  const known = chain.find((one) => one instanceof ServiceFault);
  if (known !== undefined) return known.fault;
  if (chain.some((one) => one instanceof SyntaxError)) return { kind: 'no-json' };
  return null;
}

/** What fetch, or the body that it gave, rejected with. */
export function connectionFault(error: unknown): Fault {
  const chain = causesOf(error);
  const codes = chain.flatMap((one) => ('code' in one && typeof one.code === 'string' ? [one.code] : []));
  return { kind: 'connection', codes, detail: chain.at(-1)?.message ?? String(error) };
}

/** The error and what caused it; of a failure for every address of a host, the first one. */
function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < MAX_CAUSES;) {
    chain.push(one);
    one = one instanceof AggregateError && one.cause === undefined ? one.errors[0] : one.cause;
  }
  return chain;
}

/** What a service says is wrong, wherever in its body it says it. */
export type ErrorBody = {
  /** Null where it says nothing that is meant for people. */
  readonly message: string | null;
  readonly type: string | null;
  readonly code: string | null;
  /** The parameter of the request that it names. */
  readonly param: string | null;
  /** An HTTP status inside of a body, as OpenRouter sends it with a 200. */
  readonly status: number | null;
  /** Everything in it that may tell the kind of error: its message, and that of the service behind it. */
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
/** OpenAI's and Anthropic's `{ error: { … } }`, its bare inside, FastAPI's `{ detail }`, and Gemini's list of one. */
const envelope = z.looseObject({
  error: z.union([z.string(), details]).optional().catch(undefined),
  detail: z
    .union([z.string(), z.array(violation)])
    .optional()
    .catch(undefined),
});

/** Reads an error's body, as text or as a value that was JSON. Never fails: what cannot be read is shown as it is. */
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
  const said = detail.map(({ msg, loc }) => `${loc.join('.')}: ${msg ?? ''}`).join('; ');
  return { ...plain(said), param: names[0] ?? null };
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

/** A page of a proxy is nothing to show. */
function plain(said: string): ErrorBody {
  const isShown = said.trim() !== '' && !isHtml(said);
  return { message: isShown ? said : null, type: null, code: null, param: null, status: null, text: said };
}

export function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body)\b/i.test(text);
}

export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined; // a text that is no JSON
  }
}
