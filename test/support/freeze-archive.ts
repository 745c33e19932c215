import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { SCHEMA_VERSION } from '../../src/adapters/archive/sqlite/schema.ts';
import { chatLine, chatTranscript } from './chat.ts';
import { startEmbeddingServer } from './embedding-server.ts';
import { folderWith } from './folders.ts';
import { summary } from './model-scene.ts';
import { startModelServer } from './model-server/start.ts';
import { runHere } from './program.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/archives');
const SESSION = join(import.meta.dirname, '../../fixtures/transcripts/claude-code/session.jsonl');

/** Lines of the session before its second compaction. */
const SESSION_LINES = 56;

// Run as a program: npx node test/support/freeze-archive.ts
test('writes fixtures/archives/schema-N with the program as it is now', async (t) => {
  const models = await startModelServer(t, (_, index) =>
    summary(`Batch ${index + 1}: they read the parser and agreed on a port.`),
  );
  const vectors = await startEmbeddingServer(t);
  const session = readFileSync(SESSION, 'utf8').trimEnd().split('\n');
  const parts = {
    'talk.jsonl': [
      `${chatLine({ role: 'user', name: 'Kim', content: 'Whose turn is it?' })}\n${chatTranscript(24)}`,
      chatTranscript(16, 100),
    ],
    'session.jsonl': [session.slice(0, SESSION_LINES), session.slice(SESSION_LINES)].map((lines) =>
      lines.map((line) => `${line}\n`).join(''),
    ),
  };
  const folder = folderWith(t, {
    'model.toml': `[summarization]\nprovider = "openai-compat"\nname = "toy"\nbase_url = "${models.url}/v1"\napi_key = "none"\n`,
    'vectors.toml': `[embedding]\nprovider = "openai-compat"\nmodel = "toy"\nbase_url = "${vectors.url}"\n`,
    'plain.toml': '',
  });
  const archive = join(folder, 'archive.db');
  const compact = async (name: string, config: string, ...flags: readonly string[]): Promise<void> => {
    const sizes = ['--chunk-size', '4', '--keep-recent', '4', '--max-summary-tokens', '120'];
    const ended = await runHere([
      '-i',
      '--config',
      join(folder, config),
      '--archive',
      archive,
      ...sizes,
      ...flags,
      join(folder, name),
    ]);
    assert.equal(ended.code, 0, ended.stderr);
  };
  const frozen = join(FIXTURES, `schema-${SCHEMA_VERSION}`);
  mkdirSync(frozen, { recursive: true });
  const keep = async (...args: readonly string[]): Promise<void> => {
    const ended = await runHere(['archive', ...args, '--config', join(folder, 'plain.toml'), '--archive', archive]);
    assert.equal(ended.code, 0, ended.stderr);
  };
  writeFileSync(join(folder, 'erased.jsonl'), chatTranscript(16, 200));
  const capture = async (name: string): Promise<void> => {
    const path = join(folder, name);
    const captured = await runHere(['capture', '--config', join(folder, 'plain.toml'), '--archive', archive, path]);
    assert.equal(captured.code, 0, captured.stderr);
  };
  await capture('erased.jsonl');
  await compact('erased.jsonl', 'plain.toml');
  await keep('erase', '--source', 'erased.jsonl', '--yes');
  await keep('hold', 'add', '--source', 'talk.jsonl');
  for (const [name, [first = '', second = '']] of Object.entries(parts)) {
    const path = join(folder, name);
    writeFileSync(path, first);
    await capture(name);
    await compact(
      name,
      name === 'talk.jsonl' ? 'model.toml' : 'plain.toml',
      '--target',
      name === 'talk.jsonl' ? '2500' : '2000',
    );
    writeFileSync(path, second, { flag: 'a' });
    await compact(name, 'plain.toml');
    writeFileSync(join(frozen, name.replace('.jsonl', '.restored.jsonl')), first + second);
    copyFileSync(path, join(frozen, name));
    if (name === 'talk.jsonl') await keep('index'); // the rest is not in the search index yet
  }
  const embedded = await runHere(['archive', 'embed', '--config', join(folder, 'vectors.toml'), '--archive', archive]);
  assert.equal(embedded.code, 0, embedded.stderr);
  const opened = await openArchive({ path: archive });
  assert.ok(opened.ok);
  const chosenAt = new Date('2026-03-02T12:00:00.000Z');
  const choice = { conversationId: 'talk', path: '/talk.jsonl', chosenAt };
  await opened.value.choices.add({ kind: 'drop-rule', text: 'Always use tabs.', ...choice });
  await opened.value.choices.add({ kind: 'pin', text: 'm3', ...choice });
  const batch = { kind: 'batch', key: 'b1', from: null, state: 'ended', value: '{}' } as const;
  assert.ok(await opened.value.providerBatches.change([batch]));
  await opened.value.close();
  writeFileSync(join(frozen, 'archive.db.gz'), gzipSync(readFileSync(archive), { level: 9 }));
});
