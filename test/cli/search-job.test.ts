import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { CODE_CACHE, folderWith } from '../support/folders.ts';
import { runHere } from '../support/program.ts';

// Needs `dist`: `npm test` builds first.
const BIN = join(import.meta.dirname, '../../bin/compact.js');

type Place = {
  readonly run: (...args: readonly string[]) => Promise<string>;
  /** Starts the program, which answers lines. */
  readonly ask: () => ChildProcessWithoutNullStreams;
};

/** A folder with an archive of its own; a run that fails is an error. */
function placeWith(t: TestContext, files: Readonly<Record<string, string>>): Place {
  const folder = folderWith(t, files);
  const archive = ['--archive', join(folder, 'archive.db')];
  return {
    run: async (...args) => {
      const named = args.map((arg) => (arg in files ? join(folder, arg) : arg));
      const { code, stdout, stderr } = await runHere([...named, ...archive]);
      assert.equal(code, 0, stderr);
      return stdout;
    },
    ask: () => {
      const env = { PATH: process.env['PATH'], HOME: folder, CI: '1', ...CODE_CACHE };
      const child = spawn(process.execPath, [BIN, 'search', '-', '--messages', '-q', ...archive], { cwd: folder, env });
      t.after(() => child.kill('SIGKILL'));
      return child;
    },
  };
}

const BOAT = chatLine({ role: 'user', id: 'boat', content: 'the wooden boat' });

test('what a search finds can be shown, and what a batch was made from comes back byte for byte', async (t) => {
  const { run } = placeWith(t, { 'talk.jsonl': `${BOAT}\r\n${chatTranscript(30)}` });
  await run('-i', 'talk.jsonl');
  const [hit] = JSON.parse(await run('search', 'wooden', '--messages', '--json')).hits;
  assert.deepEqual([hit.id, hit.text], ['boat', 'the wooden boat']);
  assert.equal(await run('show', hit.show, '--messages'), `${BOAT}\r\n`);
  assert.ok((await run('show', hit.label, '--messages')).startsWith(`${BOAT}\r\n{"role":"user"`));
  assert.match(await run('show', hit.label), /^\[depth:0\|start:\|end:\|count:\d+\]$/m);
  assert.match(await run('archive', 'list'), /talk\.jsonl/);
  assert.match(await run('archive', 'stats'), /compactions {2}1,/);
  assert.match(await run('archive', 'check'), /sound/);
});

test('a child that answers lines does so at once, and finds what others archive meanwhile', async (t) => {
  const { run, ask } = placeWith(t, {
    'talk.jsonl': `${BOAT}\n${chatTranscript(30)}`,
    'other.jsonl': `${BOAT}\n${chatTranscript(40)}`,
  });
  const child = ask();
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const find = async (query: string): Promise<readonly string[]> => {
    child.stdin.write(`${query}\n`);
    const { value } = await answers.next();
    return JSON.parse(value ?? '').hits.map(({ file }: { readonly file: string }) =>
      file.slice(file.lastIndexOf('/') + 1),
    );
  };
  assert.deepEqual(await find('wooden'), []);
  await run('-i', 'talk.jsonl');
  assert.deepEqual(await find('wooden'), ['talk.jsonl']);
  assert.deepEqual(await find(''), []);
  await run('-i', '--conversation', 'other', 'other.jsonl');
  assert.deepEqual(await find('wooden boat'), ['talk.jsonl', 'other.jsonl']);
  child.stdin.end('wooden');
  assert.equal(JSON.parse((await answers.next()).value ?? '').hits.length, 2);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
});

test('an asker that goes away ends the child without a word', async (t) => {
  const child = placeWith(t, {}).ask();
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  child.stdout.destroy();
  child.stdin.write('one\ntwo\n');
  const [code] = await once(child, 'close');
  assert.deepEqual([code, errors], [0, '']);
});
