import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSummary } from '../../src/core/summary-check.ts';

const check = (text: string, rest: Partial<Parameters<typeof checkSummary>[0]> = {}) => {
  const outcome = checkSummary({ text, stopReason: 'end_turn', inputTokens: 2_000, ...rest });
  return outcome.ok ? 'ok' : outcome.problem;
};

test('L4: a summary passes', () => {
  assert.deepEqual(checkSummary({ text: 'They chose tea.', stopReason: 'end_turn', inputTokens: 10 }), { ok: true });
});

test('L4: an empty answer, or one of white space, is no summary', () => {
  assert.deepEqual(
    ['', ' \n\t'].map((text) => check(text)),
    ['empty', 'empty'],
  );
});

test('L4: an answer that was cut off is no summary, with or without text', () => {
  assert.deepEqual(
    [check('They cho', { stopReason: 'max_tokens' }), check('', { stopReason: 'max_tokens' })],
    ['cut-off', 'cut-off'],
  );
});

test('L4: a refusal is no summary', () => {
  assert.equal(check('They chose tea.', { stopReason: 'refusal' }), 'refused');
});

test('L4: a call of a tool is no summary, whatever was said before it', () => {
  assert.deepEqual(
    [check('Let me look that up.', { stopReason: 'tool_use' }), check('', { stopReason: 'tool_use' })],
    ['unfinished', 'unfinished'],
  );
});

test('L4: an answer that stopped for a reason that nobody knows is no summary', () => {
  assert.equal(check('They chose tea.', { stopReason: 'other' }), 'unfinished');
});

for (const text of [
  "I'm sorry, but I can't help with that.",
  'I cannot assist with this request.',
  'I’m unable to summarize this conversation.',
  'Sorry, I am not able to comply.',
]) {
  test(`L4: a refusal in words is no summary: ${text}`, () => {
    assert.equal(check(text), 'refused');
  });
}

for (const text of [
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
]) {
  test(`L4: an error message is no summary: ${JSON.stringify(text.slice(0, 70))}`, () => {
    assert.equal(check(text), 'error-text');
  });
}

for (const text of [
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
]) {
  test(`L4: a summary that speaks of errors passes: ${JSON.stringify(text.slice(0, 70))}`, () => {
    assert.equal(check(text), 'ok');
  });
}

test('L4: a summary may be as long as what it was given, and no longer', () => {
  const tokens = (count: number) => 'abcd'.repeat(count);
  assert.deepEqual(
    [check(tokens(500), { inputTokens: 500 }), check(tokens(501), { inputTokens: 500 })],
    ['ok', 'too-long'],
  );
});

test('L4: 400 tokens are always allowed', () => {
  const tokens = (count: number) => 'abcd'.repeat(count);
  assert.deepEqual(
    [check(tokens(400), { inputTokens: 3 }), check(tokens(401), { inputTokens: 3 })],
    ['ok', 'too-long'],
  );
});

test('L4: what is wrong is told in a sentence', () => {
  assert.deepEqual(checkSummary({ text: 'Error: rate\n limit', stopReason: 'end_turn', inputTokens: 10 }), {
    ok: false,
    problem: 'error-text',
    message: 'the answer is an error message: Error: rate limit',
  });
});

for (const text of [
  'I cannot provide a summary of this conversation.',
  'As an AI language model, I cannot summarize this content.',
  "Sorry, I can't create that summary.",
  'Unfortunately, I am unable to give you a short summary.',
  'I must decline to summarize this conversation.',
  'There is no conversation to summarize. Please provide the conversation.',
]) {
  test(`L4: a refusal in other words is one: ${JSON.stringify(text)}`, () => {
    const checked = checkSummary({ text, stopReason: 'end_turn', inputTokens: 3000 });
    assert.equal(checked.ok ? 'passed' : checked.problem, 'refused');
  });
}

for (const text of [
  'Error 500: Internal Server Error',
  'Error 502',
  "<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
  '<!-- proxy --><html><body>502 Bad Gateway</body></html>',
  '404 page not found',
  'no healthy upstream',
  'upstream connect error or disconnect/reset before headers. reset reason: connection failure',
  '{"detail":"Not Found"}',
]) {
  test(`L4: what a proxy says is no summary: ${JSON.stringify(text)}`, () => {
    const checked = checkSummary({ text, stopReason: 'end_turn', inputTokens: 3000 });
    assert.equal(checked.ok ? 'passed' : checked.problem, 'error-text');
  });
}

test('L4: a text without a letter is none, unless it quotes one', () => {
  const asked = { text: '\u0000 .', stopReason: 'end_turn', inputTokens: 3000 } as const;
  const problem = (isVerbatim: boolean): string => {
    const checked = checkSummary({ ...asked, isVerbatim });
    return checked.ok ? 'passed' : checked.problem;
  };
  assert.deepEqual([problem(false), problem(true)], ['empty', 'passed']);
});

for (const text of [
  'I cannot say that the plan failed: Ada provided a summary, and they agreed on port 8080.',
  'There is no conversation about the port yet; Ada summarized the plan.',
  '{"detail":"They agreed on port 8080","next":"mend the parser"}',
]) {
  test(`L4: a summary that begins like a refusal or an envelope passes: ${JSON.stringify(text)}`, () => {
    assert.equal(checkSummary({ text, stopReason: 'end_turn', inputTokens: 3000 }).ok, true);
  });
}
