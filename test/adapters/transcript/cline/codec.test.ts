import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cline } from '../../../../src/adapters/transcript/cline/codec.ts';
import { detectDocument } from '../../../../src/adapters/transcript/detect.ts';
import { isClipArchiveText } from '../../../../src/core/split.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { benchWith, reportOf } from '../../../support/workbench.ts';
import { replay } from './replay.ts';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts/cline');
const WHOLE = readdirSync(FIXTURES).filter((name) => name !== 'cut-off.json');
const read = (name: string): Buffer => readFileSync(join(FIXTURES, name));
const text = (said: string): Json => ({ type: 'text', text: said });

for (const name of WHOLE) {
  test(`${name}: both programs send the summary, then the end of what they sent before, with no call parted from its result`, async (t) => {
    const bench = benchWith(t, name, read(name));
    let before = replay(read(name).toString('utf8'));
    for (const keepRecent of [5, 1]) {
      reportOf(await bench.compact(name, { compaction: { keepRecent, maxSummaryTokens: 120 } }));
      const [summary, ...rest] = replay(bench.read(name).toString('utf8'));
      assert.equal(summary?.role, 'user');
      assert.ok(isClipArchiveText(summary?.texts[0] ?? ''));
      assert.ok(rest.length > 0);
      assert.deepEqual(rest, before.slice(-rest.length));
      assert.equal(rest[0]?.role, 'assistant');
      const calls = rest.flatMap((message) => message.calls);
      assert.deepEqual(
        rest.flatMap((message) => message.results).filter((id) => !calls.includes(id)),
        [],
      );
      before = [...(summary === undefined ? [] : [summary]), ...rest];
    }
    assert.deepEqual(await bench.restore(name), read(name));
  });
}

test('files of both programs are told from other lists of messages', async () => {
  const formatOf = async (value: unknown): Promise<string> => {
    const found = await detectDocument(Buffer.from(JSON.stringify(value, null, 2)), true);
    return found?.kind === 'found' ? found.codec.format.name : String(found?.kind);
  };
  const answer = { role: 'assistant', content: [text('Trimmed.')] };
  assert.deepEqual(
    [
      await formatOf([{ role: 'user', content: [text('<task>\nTrim the jib.\n</task>')] }, answer]),
      await formatOf([{ role: 'user', content: [text('Trim the jib.')], ts: 1_900_000_000_000 }, answer]),
      await formatOf([{ role: 'user', content: 'Trim the jib.', condenseParent: 'c' }, answer]),
      await formatOf({
        version: 1,
        agent: 'lead',
        sessionId: 's',
        messages: [{ role: 'user', content: 'Trim.' }, answer],
      }),
      await formatOf([{ role: 'user', content: [text('Trim the jib.')] }, answer]),
      await formatOf([
        { role: 'system', content: 'Sail.' },
        { role: 'user', content: '<task>\nTrim the jib.\n</task>' },
      ]),
      await formatOf({ messages: [{ role: 'user', content: [text('Trim the jib.')] }, answer] }),
    ],
    ['cline', 'cline', 'cline', 'cline', 'conversation-document', 'conversation-document', 'conversation-document'],
  );
});

test('only what a person typed is typed, in prompts, answers and denials', () => {
  const typed = (content: Json, around: Json = null): string | undefined => {
    const session = cline.open();
    session.openList?.(around, 1);
    const decoded = session.observe({ role: 'user', content }, 2);
    assert.ok('message' in decoded);
    return decoded.message?.typed;
  };
  const result = (content: Json): Json => [{ type: 'tool_result', tool_use_id: 'c', content }];
  const inSession = { sessionId: 's', messages: [] };
  assert.deepEqual(
    [
      typed([text('<task>\nTrim the jib.\n</task>'), text('<environment_details>\nmast/\n</environment_details>')]),
      typed([text("[ask_followup_question for 'Why?'] Result:"), text('<answer>\nIt flaps.\n</answer>')]),
      typed([text("[read_file for 'a.md'] Result:"), text('<task>\nfrom a file\n</task>')]),
      typed([text("[read_file for 'a.md'] Result:\n\n<task>\nfrom a file\n</task>")]),
      typed(result('<user_message>\nNow the main sail.\n</user_message>')),
      typed(result('{"status":"denied","feedback":"Not the main sail."}')),
      typed(result('{"status":"den')),
      typed(result([text('1 | <user_message>\n2 | in a file\n3 | </user_message>')])),
      typed([text('[ERROR] You did not use a tool.')]),
      typed([text('<user_input mode="act">Trim the jib.</user_input>')], inSession),
      typed([text('Trim the jib.'), text('<SYSTEM_NOTICE>\nfull\n</SYSTEM_NOTICE>')], inSession),
    ],
    [
      'Trim the jib.',
      'It flaps.',
      undefined,
      undefined,
      'Now the main sail.',
      'Not the main sail.',
      undefined,
      undefined,
      undefined,
      'Trim the jib.',
      'Trim the jib.',
    ],
  );
});

test('the summary has only the keys that the messages around it have', () => {
  const rendered = (firstKept: Json, lastDropped: Json): unknown =>
    cline
      .open()
      .renderSummary({
        text: 'They met.',
        conversationId: 'c',
        firstKept,
        lastDropped,
        lastKeptId: null,
        tokensBefore: 9,
        quotesTools: true,
        uuid: (label) => label,
      })
      .map((line): unknown => JSON.parse(line));
  const content = [text('x')];
  const summary = [text('They met.')];
  assert.deepEqual(
    [
      rendered({ role: 'assistant', content }, { role: 'user', content }),
      rendered({ role: 'assistant', content, ts: 8 }, { role: 'user', content, ts: 7 }),
      rendered({ id: 'b', role: 'assistant', content, ts: 8 }, { id: 'a', role: 'user', content, ts: 7 }),
      rendered({ role: 'assistant', content: 'x' }, { role: 'user', content: 'y' }),
    ],
    [
      [{ role: 'user', content: summary }],
      [{ role: 'user', content: summary, ts: 7 }],
      [{ id: 'msg_summary', role: 'user', content: summary, ts: 7 }],
      [{ role: 'user', content: 'They met.' }],
    ],
  );
});
