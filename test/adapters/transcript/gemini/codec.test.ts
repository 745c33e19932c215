import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { benchWith, reportOf } from '../../../support/workbench.ts';

type Document = {
  readonly sessionId: string;
  readonly messages: readonly { readonly id: string; readonly content: unknown }[];
};

const FIXTURE = readFileSync(
  join(import.meta.dirname, '../../../../fixtures/transcripts/gemini-document/session.json'),
);
const read = (bytes: Buffer): Document => JSON.parse(bytes.toString('utf8'));

test("the summary is a user's message before those that stay, and the rest of the session is as it was", async (t) => {
  const bench = benchWith(t, 's.json', FIXTURE);
  const report = reportOf(await bench.compact('s.json', { compaction: { maxSummaryTokens: 120 } }));
  const original = read(FIXTURE);
  const { messages, ...rest } = read(bench.read('s.json'));
  const [summary, ...kept] = messages;
  assert.match(JSON.stringify(summary), /"type":"user","content":\[\{"text":"\[Context Summary — 12 messages/);
  assert.deepEqual({ ...rest, messages: kept }, { ...original, messages: original.messages.slice(12) });
  assert.equal(report.conversations[0]?.id, original.sessionId);
});
