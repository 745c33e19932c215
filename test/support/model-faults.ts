import { HELD_MS } from './held-deadlines.ts';
import { KEY, type Provider, PROVIDERS, type Settings, summary } from './model-scene.ts';
import { answer, failing, type Reply } from './model-server/reply.ts';

/** What a service does to every request, and what then becomes of a chunk of four messages, which can be halved once. */
export type ModelFault = {
  readonly what: string;
  readonly reply: (provider: Provider) => Reply;
  /** What the user is told of it. */
  readonly says: RegExp;
  readonly calls: number;
  /** Whole seconds before each call that was waited for; 'until a date': about half a minute each. */
  readonly waits?: readonly number[] | 'until a date';
  readonly settings?: Settings;
  readonly providers?: readonly Provider[];
};

const SOME = 'They looked into the build, and found the port that was wrong.';
const raw = (status: number, body: string, headers?: Readonly<Record<string, string>>): Reply =>
  headers === undefined ? { kind: 'raw', status, body } : { kind: 'raw', status, body, headers };

/** Three tries, of which two waited. */
const TRIED = { calls: 3, waits: [1, 2] } as const;
/** Three tries with what was wrong, and three more with half of it. */
const REJECTED = { calls: 6 } as const;
/** Once with all of it and once with half of it. */
const HALVED = { calls: 2 } as const;

function always(what: string, reply: Reply, rest: Omit<ModelFault, 'what' | 'reply'>): ModelFault {
  return { what, reply: () => reply, ...rest };
}

function limited(form: string, headers: Readonly<Record<string, string>>, waits: readonly number[]): ModelFault {
  return always(`429, ${form}`, failing(429, 'slow down', { headers }), {
    says: /answered 429 \(slow down\)/,
    calls: 3,
    waits,
  });
}

/** On the second, as the header has it, half a minute from now. */
function soon(): string {
  return new Date(Math.ceil(Date.now() / 1000) * 1000 + 30_000).toUTCString();
}

export const MODEL_FAULTS: readonly ModelFault[] = [
  always('401', failing(401, 'invalid key'), { says: /answered 401 \(invalid key\): check the key/, calls: 1 }),
  always('401 that repeats the key', failing(401, `no such key: ${KEY}`), {
    says: /answered 401 \(no such key: \[key\]\): check the key/,
    calls: 1,
  }),
  always('403', failing(403, 'not for you'), {
    says: /answered 403 \(not for you\): check the permissions of the key/,
    calls: 1,
  }),
  always('404', failing(404, 'no such model'), {
    says: /answered 404 \(no such model\): .*(?:base_url|ollama list)/,
    calls: 1,
  }),
  always('413', failing(413, 'too large'), { says: /answered 413 \(too large\)/, ...HALVED }),
  limited('no retry-after', {}, [1, 2]),
  limited('retry-after in seconds', { 'retry-after': '7' }, [7, 7]),
  limited('retry-after-ms', { 'retry-after-ms': '3000' }, [3, 3]),
  limited('retry-after of a day', { 'retry-after': '86400' }, [60, 60]),
  {
    what: '429, retry-after as a date',
    reply: () => failing(429, 'slow down', { headers: { 'retry-after': soon() } }),
    says: /answered 429 \(slow down\)/,
    calls: 3,
    waits: 'until a date',
  },
  {
    what: '429, insufficient_quota',
    reply: (provider) =>
      failing(429, 'no money', provider === 'anthropic' ? { type: 'billing_error' } : { code: 'insufficient_quota' }),
    says: /answered 429 \(no money\): the account is out of credit/,
    calls: 1,
  },
  always('500', failing(500, 'oops'), { says: /answered 500 \(oops\)/, ...TRIED }),
  always('500 with control characters', failing(500, 'oops\n\u001b[31mred\r\u2028'), {
    says: /answered 500 \(oops \[31mred\)/,
    ...TRIED,
  }),
  always('529', failing(529, 'Overloaded'), { says: /answered 529 \(Overloaded\)/, ...TRIED }),
  always('an empty answer', summary(''), { says: /no text/, ...REJECTED }),
  {
    what: 'cut off at the token limit',
    reply: (provider) => summary(SOME, { stop: provider === 'anthropic' ? 'max_tokens' : 'length' }),
    says: /cut off at the token limit \(test-model\): max_summary_tokens allows more/,
    calls: 4,
  },
  {
    what: 'a refusal',
    reply: (provider) => summary('', { stop: provider === 'anthropic' ? 'refusal' : 'content_filter' }),
    says: /refused to answer/,
    ...REJECTED,
  },
  always('a refusal in words', summary("I'm sorry, but I can't help with that."), {
    says: /refused to answer/,
    ...REJECTED,
  }),
  always('a call of a tool', summary('Let me look.', { tool: 'read_file' }), { says: /called a tool/, ...REJECTED }),
  always('a stop for an unknown reason', summary(SOME, { stop: 'paused' }), {
    says: /stopped before it was done/,
    ...REJECTED,
  }),
  always('an error as the answer', summary('API Error: 502 Bad Gateway'), {
    says: /the answer is an error message: API Error: 502 Bad Gateway/,
    ...REJECTED,
  }),
  always('an error with control characters as the answer', summary('API Error: 502 Bad Gateway\n\u001b[31mred'), {
    says: /the answer is an error message: API Error: 502 Bad Gateway .*red/,
    ...REJECTED,
  }),
  always('a web page as the answer', summary('<!doctype html><title>Log in</title>'), {
    says: /the answer is an error message: <!doctype html>/,
    ...REJECTED,
  }),
  always('longer than what it summarizes', summary('They did it again. '.repeat(300)), {
    says: /the summary has about \d+ tokens/,
    ...REJECTED,
  }),
  always('an error in a 200', raw(200, '{"error":{"message":"upstream is down","code":502}}'), {
    says: /answered with an error \(upstream is down\)/,
    ...TRIED,
  }),
  always('HTML in a 200', raw(200, '<!doctype html><p>Log in', { 'content-type': 'text/html' }), {
    says: /answered with a web page: check base_url/,
    calls: 1,
  }),
  always('broken JSON', raw(200, '{"content": ['), { says: /sent something that is not JSON/, ...TRIED }),
  always('a reset', { kind: 'reset' }, { says: /closed the connection \(ECONNRESET\)/, ...TRIED }),
  always('a stream that stops half-way', answer(SOME, { half: 'end' }), {
    says: /ended its answer before it was complete/,
    ...TRIED,
  }),
  always('a stream that is reset half-way', answer(SOME, { half: 'reset' }), {
    says: /closed the connection \(ECONNRESET\)/,
    ...TRIED,
  }),
  always(
    'a hang',
    { kind: 'hang' },
    {
      says: /did not complete its answer within 123\.456 s: compaction_timeout allows more/,
      calls: 4,
      waits: [1, 1, 2],
      settings: { compaction_timeout: HELD_MS },
    },
  ),
  always('a stream that hangs half-way', answer(SOME, { half: 'hang' }), {
    says: /did not complete its answer within 123\.456 s: compaction_timeout allows more/,
    calls: 4,
    waits: [1, 1, 2],
    settings: { compaction_timeout: HELD_MS },
  }),
  {
    what: 'a context that is too long',
    reply: (provider) =>
      provider === 'anthropic'
        ? failing(400, 'prompt is too long: 9 tokens > 8 maximum')
        : failing(400, 'no room', { code: 'context_length_exceeded' }),
    says: /answered 400 \((?:prompt is too long|no room)/,
    ...HALVED,
  },
  always('a prompt cut in silence', answer(SOME, { usage: { input: 9, output: 9 } }), {
    says: /read 9 tokens of about \d+, so it has cut the request: give the model a larger context/,
    ...HALVED,
    providers: ['ollama'],
  }),
];

/** Each fault with each provider that it can come from. */
export function eachFault(): readonly { readonly fault: ModelFault; readonly provider: Provider }[] {
  return PROVIDERS.flatMap((provider) =>
    MODEL_FAULTS.filter(({ providers = PROVIDERS }) => providers.includes(provider)).map((fault) => ({
      fault,
      provider,
    })),
  );
}
