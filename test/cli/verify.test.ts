import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runHere } from '../support/program.ts';
import { problemsWith } from '../support/report-schemas.ts';

const SECRET = 'zanzibarquux';
const TALK = `${chatLine({ role: 'user', content: `The word is ${SECRET}.` })}\n${chatTranscript(40)}`;

function place(t: TestContext, files: Readonly<Record<string, string | Buffer>>) {
  const folder = folderWith(t, { 'archive/': '', 'config.toml': '' });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const args = ['--config', join(folder, 'config.toml'), '--archive', join(folder, 'archive/archive.db')];
  return { folder, args, file: join(folder, 'talk.jsonl') };
}

test('what was erased makes a proof reduced: exit code 0, and 1 with --strict', async (t) => {
  const { args, file } = place(t, { 'talk.jsonl': TALK });
  assert.equal((await runHere(['-i', ...args, file])).code, 0);
  assert.equal((await runHere(['verify', '--strict', ...args, file])).code, 0);
  const erased = await runHere(['archive', 'erase', '--match', SECRET, '--yes', '--json', ...args]);
  const { receipt } = JSON.parse(erased.stdout);

  const loose = await runHere(['verify', '--json', ...args, file]);
  const report = JSON.parse(loose.stdout);
  assert.deepEqual([loose.code, report.result, problemsWith('verify', report)], [0, 'reduced', []]);
  assert.deepEqual(report.erased, [{ receipt: receipt.receipt, at: receipt.at, lines: 1 }]);
  const strict = await runHere(['verify', '--strict', ...args, file]);
  assert.equal(strict.code, 1);
  const named = `  missing: 1 line, erased by policy on ${receipt.at.slice(0, 10)}, receipt ${receipt.receipt}\n`;
  assert.ok(strict.stdout.includes(': reduced: proven but for what was erased, ') && strict.stdout.endsWith(named));
  assert.equal((await runHere(['restore', '--partial', '-i', ...args, file])).code, 0);
  assert.equal(readFileSync(file, 'utf8'), TALK.slice(TALK.indexOf('\n') + 1));
});

test('what is wrong beside that is no less wrong', async (t) => {
  const { args, file } = place(t, { 'talk.jsonl': TALK });
  assert.equal((await runHere(['-i', ...args, file])).code, 0);
  assert.equal((await runHere(['archive', 'erase', '--match', SECRET, '--yes', ...args])).code, 0);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"\}\n$/, ' or not"}\n'));
  const { code, stdout } = await runHere(['verify', ...args, file]);
  assert.equal(code, 1);
  assert.match(stdout, /talk\.jsonl: failed, 1 problem\n.*was changed since the compaction\n$/);
});

const HALF = '{"role":"user","content":"x"}\n{"role":';

test('what a run over a folder skips as no transcript is skipped by verify too', async (t) => {
  const garbage = {
    'badutf.jsonl': Buffer.concat([Buffer.from(TALK), Buffer.of(0xff, 0xfe, 0x0a), Buffer.from(TALK)]),
    'binary.jsonl': Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 7919) % 256)),
    'empty.jsonl': '',
    'first.jsonl': `garbage{{\n${TALK}`,
    'glued.jsonl': TALK.replace('\n{', '{'),
    'half.jsonl': HALF,
    'lines.json': '[1,2,3]',
    'long.jsonl': '{"role":"user","content":"xxx',
    'mixed.jsonl': `${TALK}{"type":"user","uuid":"a","parentUuid":null,"sessionId":"x","message":{"role":"user","content":"hi"}}\n`,
    'nul.jsonl': Buffer.concat([Buffer.from(TALK), Buffer.alloc(4096)]),
    'other.jsonl': '{"a":1}\n{"b":2}\n',
    'packed.jsonl.gz': gzipSync(HALF),
    'text.jsonl': 'not json at all\nfoo bar\n',
    'utf16.jsonl': Buffer.from(`\ufeff${TALK}`, 'utf16le'),
  };
  const { folder, args } = place(t, { ...garbage, 'talk.jsonl': TALK });
  const run = await runHere(['-i', ...args, folder]);
  assert.deepEqual([run.code, /\b1 compacted, 13 skipped\b/.test(run.stderr)], [0, true], run.stderr);
  const verified = await runHere(['verify', ...args, folder]);
  assert.equal(verified.code, 0, verified.stderr);
  assert.match(verified.stdout, /^[^\n]*talk\.jsonl: verified[^\n]*\n$/);
});
