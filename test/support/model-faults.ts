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
const ERROR = 'API Error: 502 Bad Gateway';
const PAGE = '<!doctype html><title>Log in</title>';
const CONTROLS = '\n\u001b[31mred\r\u2028';
const raw = (body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  kind: 'raw',
  status: 200,
  body,
  headers,
});

const ONCE = { calls: 1 } as const;
/** As long as the test holds the deadline, once with all of it and three times with half of it. */
const HELD = { calls: 4, waits: [1, 1, 2], settings: { compaction_timeout: HELD_MS } } as const;

/** Three tries, of which two waited. */
const TRIED = { calls: 3, waits: [1, 2] } as const;
/** Three tries with what was wrong, and three more with half of it. */
const REJECTED = { calls: 6 } as const;
/** Once with all of it and once with half of it. */
const HALVED = { calls: 2 } as const;

const always = (
  what: string,
  reply: Reply,
  says: RegExp,
  rest: Pick<ModelFault, 'calls' | 'waits' | 'settings'>,
): ModelFault => ({
  what,
  reply: () => reply,
  says,
  ...rest,
});
const limited = (form: string, headers: Readonly<Record<string, string>>, waits: readonly number[]): ModelFault =>
  always(`429, ${form}`, failing(429, 'slow down', { headers }), SLOW_DOWN, { calls: 3, waits });
const SLOW_DOWN = /answered 429 \(slow down\)/;
const LATE = /did not complete its answer within 123\.456 s: compaction_timeout allows more/;

/** On the second, as the header has it, half a minute from now. */
function soon(): string {
  return new Date(Math.ceil(Date.now() / 1000) * 1000 + 30_000).toUTCString();
}

export const MODEL_FAULTS: readonly ModelFault[] = [
  always('401', failing(401, 'invalid key'), /answered 401 \(invalid key\): check the key/, ONCE),
  always(
    '401 that repeats the key',
    failing(401, `no such key: ${KEY}`),
    /answered 401 \(no such key: \[key\]\)/,
    ONCE,
  ),
  always('403', failing(403, 'not for you'), /answered 403 \(not for you\): check the permissions of the key/, ONCE),
  {
    ...always('404', failing(404, 'no such model'), /answered 404 \(no such model\): .*(?:base_url|ollama list)/, ONCE),
    providers: PROVIDERS,
  },
  always('413', failing(413, 'too large'), /answered 413 \(too large\)/, HALVED),
  limited('no retry-after', {}, [1, 2]),
  limited('retry-after in seconds', { 'retry-after': '7' }, [7, 7]),
  limited('retry-after-ms', { 'retry-after-ms': '3000' }, [3, 3]),
  limited('retry-after of a day', { 'retry-after': '86400' }, [60, 60]),
  {
    what: '429, retry-after as a date',
    reply: () => failing(429, 'slow down', { headers: { 'retry-after': soon() } }),
    says: SLOW_DOWN,
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
  always('500', failing(500, 'oops'), /answered 500 \(oops\)/, TRIED),
  always('500 with control characters', failing(500, `oops${CONTROLS}`), /answered 500 \(oops \[31mred\)/, TRIED),
  always('529', failing(529, 'Overloaded'), /answered 529 \(Overloaded\)/, TRIED),
  always('an empty answer', summary(''), /no text/, REJECTED),
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
  always('a refusal in words', summary("I'm sorry, but I can't help with that."), /refused to answer/, REJECTED),
  always('a call of a tool', summary('Let me look.', { tool: 'read_file' }), /called a tool/, REJECTED),
  always('a stop for an unknown reason', summary(SOME, { stop: 'paused' }), /stopped before it was done/, REJECTED),
  always('an error as the answer', summary(ERROR), /the answer is an error message: API Error: 502 Bad/, REJECTED),
  always('an error with control characters', summary(ERROR + CONTROLS), /an error message: API Error: .*red/, REJECTED),
  always('a web page as the answer', summary(PAGE), /the answer is an error message: <!doctype html>/, REJECTED),
  always('longer than its source', summary('They did it again. '.repeat(300)), /has about \d+ tokens/, REJECTED),
  always('an error in a 200', raw('{"error":{"message":"down","code":502}}'), /with an error \(down\)/, TRIED),
  always('HTML in a 200', raw(PAGE, { 'content-type': 'text/html' }), /with a web page: check base_url/, ONCE),
  always('broken JSON', raw('{"content": ['), /sent something that is not JSON/, TRIED),
  always('a reset', { kind: 'reset' }, /closed the connection \(ECONNRESET\)/, TRIED),
  always('a stream that stops half-way', answer(SOME, { half: 'end' }), /ended its answer before it was/, TRIED),
  always('a stream that is reset', answer(SOME, { half: 'reset' }), /closed the connection \(ECONNRESET\)/, TRIED),
  always('a hang', { kind: 'hang' }, LATE, HELD),
  always('a stream that hangs half-way', answer(SOME, { half: 'hang' }), LATE, HELD),
  {
    what: 'a context that is too long',
    reply: (provider) =>
      provider === 'anthropic'
        ? failing(400, 'prompt is too long: 9 tokens > 8 maximum')
        : failing(400, 'no room', { code: 'context_length_exceeded' }),
    says: /answered 400 \((?:prompt is too long|no room)/,
    ...HALVED,
  },
  {
    ...always(
      'a prompt cut in silence',
      answer(SOME, { usage: { input: 9, output: 9 } }),
      /read 9 tokens of about \d+, so it has cut the request: give the model a larger context/,
      HALVED,
    ),
    providers: ['ollama'],
  },
];

/** Ollama is asked by the same code as other servers of OpenAI's kind. */
const BOTH: readonly Provider[] = ['anthropic', 'openai-compat'];

/** Each fault with each provider that it can come from. */
export function eachFault(): readonly { readonly fault: ModelFault; readonly provider: Provider }[] {
  return PROVIDERS.flatMap((provider) =>
    MODEL_FAULTS.filter(({ providers = BOTH }) => providers.includes(provider)).map((fault) => ({ fault, provider })),
  );
}
