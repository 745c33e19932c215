import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSummary } from '../../src/core/summary-check.ts';

type Answer = Parameters<typeof checkSummary>[0];

function check(text: string, rest: Partial<Answer> = {}): string {
  const outcome = checkSummary({ text, stopReason: 'end_turn', inputTokens: 2_000, ...rest });
  return outcome.ok ? 'ok' : outcome.problem;
}

const tokens = (count: number): string => 'abcd'.repeat(count);

const ANSWERS: readonly (readonly [string, string, string, Partial<Answer>?])[] = [
  ['a summary passes', 'They chose tea.', 'ok', { inputTokens: 10 }],
  ['an empty answer is no summary', '', 'empty'],
  ['one of white space is none', ' \n\t', 'empty'],
  ['one that was cut off is none', 'They cho', 'cut-off', { stopReason: 'max_tokens' }],
  ['one that was cut off without text is none', '', 'cut-off', { stopReason: 'max_tokens' }],
  ['a refusal is none', 'They chose tea.', 'refused', { stopReason: 'refusal' }],
  ['a call of a tool is none, whatever was said before it', 'Let me see.', 'unfinished', { stopReason: 'tool_use' }],
  ['a call of a tool alone is none', '', 'unfinished', { stopReason: 'tool_use' }],
  ['one that stopped for an unknown reason is none', 'They chose tea.', 'unfinished', { stopReason: 'other' }],
  ['it may be as long as what it was given', tokens(500), 'ok', { inputTokens: 500 }],
  ['it may not be longer', tokens(501), 'too-long', { inputTokens: 500 }],
  ['400 tokens are always allowed', tokens(400), 'ok', { inputTokens: 3 }],
  ['401 are not', tokens(401), 'too-long', { inputTokens: 3 }],
  ['a text without a letter is none', '\u0000 .', 'empty'],
  ['unless it quotes one', '\u0000 .', 'ok', { isVerbatim: true }],
];

for (const [what, text, expected, rest] of ANSWERS)
  test(`L4: ${what}`, () => assert.equal(check(text, rest), expected));

/** What an answer reads like, though it ended as it should. */
const TEXTS: Readonly<Record<'refused' | 'error-text' | 'ok', readonly string[]>> = {
  refused: [
    "I'm sorry, but I can't help with that.",
    'I cannot assist with this request.',
    'I’m unable to summarize this conversation.',
    'Sorry, I am not able to comply.',

    'I cannot provide a summary of this conversation.',
    'As an AI language model, I cannot summarize this content.',
    "Sorry, I can't create that summary.",
    'Unfortunately, I am unable to give you a short summary.',
    'I must decline to summarize this conversation.',
    'There is no conversation to summarize. Please provide the conversation.',
  ],
  // Of services, and of proxies before them.
  'error-text': [
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    'API Error: Request timed out.',
    'API Error (429 too many requests)',
    'Error: rate limit',
    'Error: Rate limit exceeded for the organization, try again in 20 s',
    'Error: 503 Service Unavailable',
    'Error: Connection reset',
    'Request timed out',
    'Request timed out.',
    'Request timed out after 60000 ms. Please try again later.',
    '429 Too Many Requests',
    '502 Bad Gateway',
    'Overloaded',
    'Connection error.',
    'Prompt is too long',
    '  fetch failed\n',
    `API Error: 502 <html>${'<p>Bad gateway</p>'.repeat(200)}</html>`,
    '{"error":{"message":"quota","code":429}}',
    '{"type":"error","message":"no","request_id":"r1"}',
    '[{ "error": { "code": 503 } }]',
    '<!DOCTYPE html><html><body>502</body></html>',
    '<html>\n<head></head></html>',
    '<head><title>502 Bad Gateway</title></head>',
    '<body class="error">Bad gateway</body>',

    'Error 500: Internal Server Error',
    'Error 502',
    "<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
    '<!-- proxy --><html><body>502 Bad Gateway</body></html>',
    '404 page not found',
    'no healthy upstream',
    'upstream connect error or disconnect/reset before headers. reset reason: connection failure',
    '{"detail":"Not Found"}',
  ],
  // These only speak of errors, or begin like a refusal or an envelope.
  ok: [
    'Error handling was moved into one place; the API error of the morning had been a typo.',
    'Error: they first saw "rate limit" in the log, then Ada raised the limit and the job went through.',
    'Request timed out errors came from the proxy, so Ada raised its limit to 60 s.',
    'Error 404 came from the proxy, which Ada replaced.',
    'Timeouts were the cause. Bo set them to 30 s.',
    'Overloaded operators were removed from the parser.',
    'Unauthorized users could read the list; Bo closed the hole.',
    '{"decisions":["tea"],"error":"the kettle broke"}',
    '{"decisions":["tea"]}',
    '{tea} was chosen over {coffee}.',
    'The page began with <html> and was refused.',
    'I cannot help but note that tea was chosen.',
    "I can't promise more than this: tea was chosen.",
    `Error: rate limit\n${'Then they looked into it and found the cause. '.repeat(30)}`,

    'I cannot say that the plan failed: Ada provided a summary, and they agreed on port 8080.',
    'There is no conversation about the port yet; Ada summarized the plan.',
    '{"detail":"They agreed on port 8080","next":"mend the parser"}',
  ],
};

for (const [expected, texts] of Object.entries(TEXTS))
  for (const text of texts)
    test(`L4: ${expected}: ${JSON.stringify(text.slice(0, 70))}`, () => assert.equal(check(text), expected));

test('L4: what is wrong is told in a sentence', () => {
  assert.deepEqual(checkSummary({ text: 'Error: rate\n limit', stopReason: 'end_turn', inputTokens: 10 }), {
    ok: false,
    problem: 'error-text',
    message: 'the answer is an error message: Error: rate limit',
  });
});
