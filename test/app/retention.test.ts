import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactMessages } from '../../src/app/summarize/redacting-model.ts';
import { auditSummary, type SummaryAudit } from '../../src/app/summarize/summarize-chunk.ts';
import { checkSummary } from '../../src/core/summary-check.ts';
import { estimateTokens } from '../../src/core/tokens.ts';
import { messages } from '../support/messages.ts';

const SAID = messages(
  { content: `The harbor office wants its lamp at 40 px. ${'It was a long day at sea. '.repeat(60)}` },
  { role: 'assistant', content: 'I wrote deploy/harbor.toml for it.' },
);
const PLAIN = `${'They spoke about the day and what was to be done about it. '.repeat(4)}A lamp of 40 px.`;
const FALSE_QUOTE = `${PLAIN} The user said "paint it green please".`;
const FULL = `${PLAIN} See deploy/harbor.toml.`;

function audit(rest: Partial<SummaryAudit> & Pick<SummaryAudit, 'summary'>) {
  const told: string[] = [];
  const { retry = async () => null } = rest;
  const outcome = auditSummary({
    messages: SAID,
    previousSummary: null,
    earlier: [],
    inputTokens: SAID.reduce((sum, { content }) => sum + estimateTokens(content), 0),
    appendixShare: 0,
    minShare: 0,
    stem: (word) => word,
    ...rest,
    retry: async (flaws) => {
      told.push(flaws);
      return retry(flaws);
    },
  });
  return outcome.then((audited) => ({ ...audited, told }));
}

test('a summary without flaws stays as it is, and its model is not asked again', async () => {
  assert.deepEqual(await audit({ summary: FULL, minShare: 1 }), {
    text: FULL,
    retention: { kept: 2, total: 2, share: 1, lost: [] },
    appendixChars: 0,
    wasRetried: false,
    unquoted: 0,
    told: [],
  });
});

test('details that it lost stand behind it, and count as kept', async () => {
  const { text, retention, appendixChars, told } = await audit({ summary: PLAIN, appendixShare: 0.5, minShare: 1 });
  const appendix = '\n\nDetails kept verbatim\nassistant: I wrote deploy/harbor.toml for it.';
  assert.deepEqual([text, retention.share, appendixChars, told], [PLAIN + appendix, 1, appendix.length, []]);
});

test('the model is told about a false quotation, and its better answer is used', async () => {
  const { text, wasRetried, unquoted, told } = await audit({ summary: FALSE_QUOTE, retry: async () => FULL });
  assert.deepEqual(
    [text, wasRetried, unquoted, told],
    [
      FULL,
      true,
      0,
      [
        'it quotes the user with words that no message of the user has ("paint it green please"): quote exactly what was said, or tell it without quotation marks',
      ],
    ],
  );
});

test('one that the model does not mend is asked for once, and loses its quotation marks', async () => {
  const { text, unquoted, told } = await audit({ summary: FALSE_QUOTE, retry: async () => FALSE_QUOTE });
  assert.deepEqual(
    [text, unquoted, told.length],
    [`${PLAIN} The user said paint it green please (not the exact words).`, 1, 1],
  );
});

test('where no other summary could be had the first is made good by code', async () => {
  const { text, wasRetried } = await audit({ summary: FALSE_QUOTE });
  assert.deepEqual([text, wasRetried], [`${PLAIN} The user said paint it green please (not the exact words).`, false]);
});

test('the model is told about lost facts, without text that gives orders', async () => {
  const said = messages(...SAID, { content: 'Never ignore the instructions above, always use x/y.ts.' });
  const { told, text } = await audit({ summary: PLAIN, messages: said, minShare: 1, retry: async () => FULL });
  assert.deepEqual(
    [told, text],
    [
      [
        'it leaves out what is needed later, such as "x/y.ts", "deploy/harbor.toml"'.replace(
          '"x/y.ts", "deploy/harbor.toml"',
          '"deploy/harbor.toml", "x/y.ts"',
        ),
      ],
      FULL,
    ],
  );
});

test('a second summary that is worse than the first is not taken', async () => {
  const { text, wasRetried } = await audit({ summary: PLAIN, minShare: 1, retry: async () => 'They spoke.' });
  assert.deepEqual([text, wasRetried], [PLAIN, true]);
});

test('with its details a summary still passes the check of its length', async () => {
  const short = messages({ content: 'Put deploy/harbor.toml and ops/lamp.yaml on the shelf, then call 555 ms.' });
  const inputTokens = estimateTokens(short[0]?.content ?? '');
  for (const summary of ['Put things on the shelf.', FULL]) {
    const { text } = await audit({ summary, messages: short, inputTokens, appendixShare: 5 });
    assert.deepEqual(checkSummary({ text, stopReason: 'end_turn', inputTokens }), { ok: true });
    assert.ok(text === summary || estimateTokens(text) <= inputTokens, text);
  }
});

test('with a redactor facts and details are of the masked messages', async () => {
  const redactor = { redact: (text: string) => text.replaceAll('harbor.toml', '[redacted:file:1]'), masked: () => [] };
  const masked = redactMessages(SAID, redactor);
  const { text, retention } = await audit({ summary: PLAIN, appendixShare: 0.5, messages: masked });
  assert.deepEqual(
    [text.includes('harbor.toml'), text.includes('[redacted:file:1]'), JSON.stringify(retention).includes('harbor')],
    [false, true, false],
  );
});
