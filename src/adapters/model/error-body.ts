import { z } from 'zod';

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
