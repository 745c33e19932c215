import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { aider } from '../../../../src/adapters/transcript/aider/codec.ts';
import { detectDocument } from '../../../../src/adapters/transcript/detect.ts';
import { splitPieces } from '../../../../src/app/read/records.ts';
import { scoreFile } from '../../../../src/app/survey/score-file.ts';
import { benchFor, policyOf } from '../../../support/workbench.ts';

const markdownRecords = aider.records ?? assert.fail('its files are no lines of JSON');
const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts/aider');

type Message = { readonly role: string; readonly content: string };

/** The rules of aider's `split_chat_history_markdown`, as far as they say who said what. */
function replay(text: string): readonly Message[] {
  const said: { role: string; content: string }[] = [];
  let role = '';
  for (const line of text.split('\n')) {
    const next = line.startsWith('> ') ? 'tool' : line.startsWith('#### ') ? 'user' : 'assistant';
    if (line.startsWith('# aider chat started at ')) role = '';
    else if (next === role) (said.at(-1) ?? { content: '' }).content += `\n${line}`;
    else {
      said.push({ role: next, content: line });
      role = next;
    }
  }
  return said.filter(({ content }) => content.trim() !== '');
}

function* piecesOf(bytes: Buffer, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const recordsOf = (text: string, size = 7): readonly string[] =>
  Array.from(splitPieces(markdownRecords.open(0), piecesOf(Buffer.from(text), size)), ({ bytes }) =>
    Buffer.from(bytes).toString(),
  );

function messagesOf(text: string): readonly Message[] {
  const session = aider.open();
  return recordsOf(text).flatMap((record, at) => {
    const parsed = markdownRecords.parse(Buffer.from(record));
    const decoded = parsed.ok && record.trim() !== '' ? session.observe(parsed.value, at + 1) : null;
    if (decoded === null || 'problem' in decoded || decoded.message === undefined) return [];
    return [{ role: decoded.message.role, content: decoded.message.content }];
  });
}

for (const name of readdirSync(FIXTURES)) {
  test(`${name}: the messages are those that aider itself reads`, () => {
    const text = readFileSync(join(FIXTURES, name), 'utf8');
    assert.equal(recordsOf(text).join(''), text);
    const words = (content: string): string =>
      content
        .replaceAll(/^(?:#### |> )/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim();
    assert.deepEqual(
      messagesOf(text).map(({ role, content }) => [role, words(content)]),
      replay(text).map(({ role, content }) => [role, words(content)]),
    );
  });
}

test('records cover any text without gaps, however it arrives', () => {
  const line = fc.constantFrom(
    '\n',
    ' \r\n',
    '#### ask  \n',
    '> told  \n',
    'said\n',
    '# aider chat started at 1\n',
    '#### x',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.nat({ max: 9 }), (lines, size) => {
      assert.equal(recordsOf(lines.join(''), size + 1).join(''), lines.join(''));
    }),
  );
});

test('a blank line ends a prompt, but not an answer; comments in code are part of it', () => {
  assert.deepEqual(recordsOf('#### a\n\n#### b\nyes\n\n# code\nno\n> ok\n'), [
    '#### a\n',
    '\n',
    '#### b\n',
    'yes\n\n# code\nno\n',
    '> ok\n',
  ]);
});

test('a chat history is recognized by its first line, and compacting it fails with the reason', async (t) => {
  const bench = benchFor(t);
  const original = readFileSync(join(FIXTURES, 'two-sessions.md'));
  assert.equal((await detectDocument(original, true))?.kind, 'found');
  bench.write('.aider.chat.history.md', original);
  const done = await bench.compact('.aider.chat.history.md');
  assert.ok(!done.ok && done.error.kind === 'read-only-format');
  assert.match(done.error.reason, /could not be restored/);
  assert.deepEqual(bench.read('.aider.chat.history.md'), original);
});

test('the scores of a chat history say that every message stays, and why', async (t) => {
  const bench = benchFor(t);
  const path = bench.write('.aider.chat.history.md', readFileSync(join(FIXTURES, 'two-sessions.md')));
  const input = { path, name: path, format: null };
  const scored = await scoreFile(bench.deps, { input, policy: policyOf({ compaction: { keepRecent: 2 } }) });
  assert.ok(scored.ok);
  assert.equal(scored.value.whyReadOnly, aider.format.whyReadOnly);
  assert.ok(scored.value.messages.length > 2);
  assert.deepEqual([...new Set(scored.value.messages.map(({ because }) => because))], ['unchanged']);
});
