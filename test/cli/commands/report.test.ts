import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createFileStore } from '../../../src/adapters/fs/file-store.ts';
import { writePage } from '../../../src/app/write/write-output.ts';
import { run } from '../../../src/cli/run.ts';
import type { UseCases } from '../../../src/compose/use-cases.ts';
import { err, ok } from '../../../src/core/result.ts';
import type { FileLock, FileStore } from '../../../src/ports/files.ts';
import { folderWith } from '../../support/folders.ts';
import { fileReport } from '../../support/file-reports.ts';
import { createFakeTerminal, createFakeUseCases } from '../fakes.ts';

async function ran(argv: readonly string[], answers: Partial<UseCases> = {}) {
  const terminal = createFakeTerminal(['report', ...argv], { environment: { BROWSER: 'no-such-browser' } });
  const useCases = createFakeUseCases(answers);
  const code = await run({ terminal, loadUseCases: useCases.loadUseCases });
  return { code, out: terminal.out(), errors: terminal.errors(), calls: useCases.calls };
}

test('options of a plan, and of one message, are refused where they would change nothing', async (t) => {
  const file = join(sceneWith(t), 'talk.compact.jsonl');
  for (const argv of [
    ['--target', '5k'],
    ['-o', 'p.html', '--all'],
    ['--open', '--message', '1'],
  ]) {
    const { code, errors } = await ran([file, ...argv]);
    assert.deepEqual([code, /are for --plan|cannot be used with/.test(errors)], [2, true], errors);
  }
});

function sceneWith(t: TestContext): string {
  return folderWith(t, { 'talk.compact.jsonl': '{}\n', 'other.html': '<p>mine</p>' });
}

test('the page that is opened is named after the transcript, and one line says what it shows', async (t) => {
  const folder = sceneWith(t);
  const { code, out, errors, calls } = await ran([join(folder, 'talk.compact.jsonl'), '--open']);
  assert.deepEqual([code, out], [0, '']);
  assert.match(errors, /^talk\.jsonl → talk\.report\.html: 6 messages, [\d.]+ kB; verified\n/);
  const written = calls.find(({ name }) => name === 'write-page')?.request;
  assert.ok(typeof written === 'object' && written !== null && 'path' in written);
  assert.equal(written.path, 'talk.report.html');
});

test('secrets are masked unless --raw is given', async (t) => {
  const file = join(sceneWith(t), 'talk.compact.jsonl');
  const masked = await ran([file]);
  const raw = await ran([file, '--raw']);
  const hasMask = ({ calls }: { readonly calls: readonly { readonly name: string; readonly request: unknown }[] }) =>
    calls.some(({ name, request }) => name === 'report' && Object.hasOwn(Object(request), 'mask'));
  assert.deepEqual([hasMask(masked), hasMask(raw)], [true, false]);
});

test('with -o - the page goes to stdout, and --json has one report', async (t) => {
  const file = join(sceneWith(t), 'talk.compact.jsonl');
  const piped = await ran([file, '-o', '-']);
  assert.match(piped.out, /^<!doctype html>/);
  const json = await ran([file, '-o', 'p.html', '--json']);
  const { bytes, ...report } = JSON.parse(json.out);
  assert.deepEqual(report, {
    schema: 'compact/page@1',
    file: 'talk.jsonl',
    output: 'p.html',
    messages: 6,
    result: 'verified',
  });
  assert.ok(bytes > 1000);
  assert.equal((await ran([file, '-o', '-', '--json'])).code, 2);
  assert.equal((await ran([file, '-o', file])).code, 2);
});

test('for a file that is not compacted, the command for a plan is printed', async (t) => {
  const file = join(sceneWith(t), 'talk.compact.jsonl');
  const reportFile = () => Promise.resolve(err({ kind: 'not-compacted', file: 'talk.jsonl' } as const));
  const { code, errors } = await ran([file], { reportFile });
  assert.equal(code, 1);
  assert.match(errors, /not compacted[\s\S]*compact report --plan /);
});

test('a file that is no page is not replaced, and an earlier page is', async (t) => {
  const folder = sceneWith(t);
  const files = createFileStore();
  const start = '<!page>';
  const write = (name: string, text: string) =>
    writePage({ files }, { path: join(folder, name), text, start, file: 'talk' });
  const refused = await write('other.html', '<!page>1');
  assert.deepEqual(refused, err({ kind: 'output-exists', file: 'talk', output: join(folder, 'other.html') }));
  assert.equal(readFileSync(join(folder, 'other.html'), 'utf8'), '<p>mine</p>');
  for (const text of ['<!page>1', '<!page>two']) {
    assert.deepEqual(await write('new.html', text), ok(undefined));
    assert.equal(readFileSync(join(folder, 'new.html'), 'utf8'), text);
  }
  writeFileSync(join(folder, 'short.html'), '<!pa');
  assert.equal((await write('short.html', '<!page>1')).ok, false);
  assert.equal((await write('none/new.html', '<!page>1')).ok, false);
  assert.equal(existsSync(join(folder, 'none')), false);
});

test('a page does not follow a symbolic link, even to an empty file or an earlier page', async (t) => {
  const folder = sceneWith(t);
  const files = createFileStore();
  const start = '<!page>';
  for (const content of ['', '<!page>1', null]) {
    const target = join(folder, 'target.html');
    if (content === null) rmSync(target);
    else writeFileSync(target, content);
    const path = join(folder, 'link.html');
    rmSync(path, { force: true });
    symlinkSync(target, path);
    const done = await writePage({ files }, { path, text: '<!page>2', start, file: 'talk' });
    assert.deepEqual(done, err({ kind: 'file', failure: { kind: 'not-a-file', path, is: 'a symbolic link' } }));
    assert.equal(existsSync(target) ? readFileSync(target, 'utf8') : null, content);
  }
});

test('a file that changes while its page is written is not replaced', async (t) => {
  const folder = sceneWith(t);
  const path = join(folder, 'new.html');
  const store = createFileStore();
  const start = '<!page>';
  /** Another program writes the file as soon as this one writes its own. */
  const files: FileStore = {
    ...store,
    lock: async (...of) => {
      const lock = await store.lock(...of);
      if (!lock.ok) return lock;
      const begin: FileLock['begin'] = async (...like) => {
        writeFileSync(path, '<!page> with my notes');
        return lock.value.begin(...like);
      };
      return ok({ ...lock.value, begin });
    },
  };
  for (const before of [null, '<!page>1']) {
    rmSync(path, { force: true });
    if (before !== null) writeFileSync(path, before);
    const done = await writePage({ files }, { path, text: start, start, file: 'talk' });
    assert.deepEqual(done, err({ kind: 'output-exists', file: 'talk', output: path }));
    assert.equal(readFileSync(path, 'utf8'), '<!page> with my notes');
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('.')),
    [],
  );
});

test('a report of a plan says so in a word', async (t) => {
  const file = join(sceneWith(t), 'talk.compact.jsonl');
  const planned = { ...fileReport(), state: { kind: 'planned', reason: null } } as const;
  const { errors } = await ran([file, '--plan', '-o', 'p.html'], { reportFile: () => Promise.resolve(ok(planned)) });
  assert.match(errors, /; a plan: nothing was compacted\n$/);
});
