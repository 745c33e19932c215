import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { callTool, callTools, requestLine, startMcp, textOf } from '../../support/mcp.ts';
import { runHere } from '../../support/program.ts';

const ORIGINAL = chatTranscript(30);

type Scene = {
  readonly root: string;
  readonly logs: string;
  readonly file: string;
  /** Of the command line. */
  readonly archive: readonly string[];
  readonly args: readonly string[];
};

/** A folder `logs` that is allowed, with a transcript; one beside it that is not. */
function scene(t: TestContext, files: Readonly<Record<string, string>> = {}): Scene {
  const root = realpathSync(folderWith(t, { 'logs/talk.jsonl': ORIGINAL, 'other/talk.jsonl': ORIGINAL, ...files }));
  const logs = join(root, 'logs');
  const archive = ['--archive', join(root, 'archive.db')];
  return { root, logs, file: join(logs, 'talk.jsonl'), archive, args: [...archive, '--allow-compact', logs] };
}

test('a transcript is compacted into a new file, and the figures are given', async (t) => {
  const { logs, file, archive, args, root } = scene(t);
  const result = await callTool(args, 'compact_context', { path: 'talk.jsonl' });
  const { tokens, bytes, ...rest } = Object(result.structuredContent);
  assert.deepEqual(rest, {
    result: 'compacted',
    file,
    format: 'chat-lines',
    output: join(logs, 'talk.compact.jsonl'),
    messages: { before: 80, after: 21 },
    lines: { kept: 20, summarized: 60, quoted: 0, other: 0, total: 80 },
    conversations: 1,
    summaries: 1,
    cycles: 1,
    archive: join(root, 'archive.db'),
    restore: `compact restore --archive ${join(root, 'archive.db')} ${logs}/talk.compact.jsonl -o ${logs}/talk.restored.jsonl`,
    notes: [],
  });
  assert.equal(tokens.saved, tokens.before - tokens.after);
  assert.equal(bytes.after, readFileSync(join(logs, 'talk.compact.jsonl')).length);
  assert.match(textOf(result), /talk\.jsonl → .*talk\.compact\.jsonl\n {2}result {4}.*\n {2}messages {2}80 → 21\n/);
  assert.equal(readFileSync(file, 'utf8'), ORIGINAL);
  const restored = await runHere(['restore', ...archive, join(logs, 'talk.compact.jsonl')]);
  assert.equal(restored.stdout, ORIGINAL);
});

test('in_place replaces the transcript, and a second call has nothing to do', async (t) => {
  const { logs, file, archive, args } = scene(t);
  const call = ['compact_context', { path: file, in_place: true }] as const;
  const first = await callTool(args, ...call);
  const second = await callTool(args, ...call);
  assert.deepEqual(
    [first, second].map(({ structuredContent }) => structuredContent?.['result']),
    ['compacted', 'skipped'],
  );
  assert.equal(second.structuredContent?.['reason'], 'nothing-new');
  assert.deepEqual(readdirSync(logs), ['talk.jsonl']);
  assert.equal((await runHere(['restore', ...archive, file])).stdout, ORIGINAL);
});

test('it gives the same bytes as the command line', async (t) => {
  const { root, logs, args } = scene(t);
  await callTool(args, 'compact_context', { path: 'talk.jsonl', keep_recent: 12, target: 2500 });
  const flags = ['--archive', join(root, 'second.db'), '--keep-recent', '12', '--target', '2500'];
  await runHere([...flags, join(root, 'other/talk.jsonl')]);
  assert.equal(
    readFileSync(join(logs, 'talk.compact.jsonl'), 'utf8'),
    readFileSync(join(root, 'other/talk.compact.jsonl'), 'utf8'),
  );
});

test('dry_run tells the plan and writes nothing', async (t) => {
  const { root, logs, args } = scene(t);
  const result = await callTool(args, 'compact_context', { path: 'talk.jsonl', dry_run: true });
  const { result: kind, output, requests } = Object(result.structuredContent);
  assert.deepEqual([kind, output, requests], ['planned', null, 1]);
  assert.deepEqual([readdirSync(logs), existsSync(join(root, 'archive.db'))], [['talk.jsonl'], false]);
});

test('without --allow-compact a call does nothing, and says what to do', async (t) => {
  const { logs, file, archive, root } = scene(t);
  const result = await callTool([...archive, logs], 'compact_context', { path: file, in_place: true });
  assert.equal(result.isError, true);
  assert.match(textOf(result), /^compact_context is not allowed here.*`compact mcp --allow-compact FOLDER…`/);
  assert.deepEqual([readFileSync(file, 'utf8'), existsSync(join(root, 'archive.db'))], [ORIGINAL, false]);
});

test('what stands outside the folders is not touched, nor what is no transcript', async (t) => {
  const { root, logs, args } = scene(t, { 'logs/page.html': '<!doctype html><p>hello</p>\n' });
  symlinkSync(join(root, 'other/talk.jsonl'), join(logs, 'link.jsonl'));
  const cases = [
    ['../other/talk.jsonl', /outside the allowed folders/],
    [join(root, 'other/talk.jsonl'), /outside the allowed folders/],
    ['link.jsonl', /outside the allowed folders/],
    ['none.jsonl', /^none\.jsonl: no such file or folder/],
    ['.', /^\.: not a file: it is a folder/],
    ['talk.jsonl\0.txt', /contains a NUL/],
    ['page.html', /page\.html: not a transcript/],
  ] as const;
  const results = await callTools(
    args,
    ...cases.map(([path]) => ['compact_context', { path, in_place: true }] as const),
  );
  for (const [at, [path, expected]] of cases.entries()) {
    const result = results[at];
    assert.ok(result?.isError, path);
    assert.match(textOf(result), expected);
  }
  assert.equal(readFileSync(join(root, 'other/talk.jsonl'), 'utf8'), ORIGINAL);
});

test('an output that is a link out of the folders is not written through', async (t) => {
  const { root, logs, args } = scene(t);
  symlinkSync(join(root, 'other/new.jsonl'), join(logs, 'talk.compact.jsonl'));
  const result = await callTool(args, 'compact_context', { path: 'talk.jsonl' });
  assert.match(textOf(result), /talk\.compact\.jsonl: it is a link that leads out of the allowed folders/);
  assert.equal(existsSync(join(root, 'other/new.jsonl')), false);
});

test('a file that would be lost is not replaced', async (t) => {
  const { logs, args } = scene(t, { 'logs/talk.compact.jsonl': 'precious\n' });
  const result = await callTool(args, 'compact_context', { path: 'talk.jsonl' });
  assert.match(textOf(result), /exists and is not replaced/);
  assert.equal(readFileSync(join(logs, 'talk.compact.jsonl'), 'utf8'), 'precious\n');
});

test('the model of the configuration is asked, and what is wrong with that is told', async (t) => {
  const { root, args, file } = scene(t, { 'compact.toml': '[summarization]\nprovider = "anthropic"\nname = "m"\n' });
  const configured = ['--config', join(root, 'compact.toml'), ...args];
  const [refused, planned] = await callTools(
    configured,
    ['compact_context', { path: file }],
    ['compact_context', { path: file, dry_run: true }],
  );
  assert.equal(refused?.isError, true);
  assert.match(textOf(refused), /ANTHROPIC_API_KEY/);
  assert.equal(planned?.structuredContent?.['result'], 'planned');
  assert.equal(readFileSync(file, 'utf8'), ORIGINAL);
});

test('a wrong configuration is told before the conversation begins', async (t) => {
  const { root, args } = scene(t, { 'compact.toml': '[summarization]\nkeep_recnt = 5\n' });
  const ended = await runHere(['mcp', '--config', join(root, 'compact.toml'), ...args], requestLine(1, 'ping'));
  assert.deepEqual([ended.code, ended.stdout], [2, '']);
  assert.match(ended.stderr, /keep_recent/);
});

suite('in a process of its own', { concurrency: 2 }, () => {
  test('two calls at once are both answered, and the memory is there while they work', async (t) => {
    const { root, args } = scene(t, { 'logs/second.jsonl': chatTranscript(30, 100) });
    const { call, end } = await startMcp(t, args);
    const results = await Promise.all([
      call('compact_context', { path: 'talk.jsonl', in_place: true }),
      call('compact_context', { path: 'second.jsonl', in_place: true }),
      call('memory_read', { query: 'parser' }),
    ]);
    assert.deepEqual(
      results.slice(0, 2).map(({ structuredContent }) => structuredContent?.['result']),
      ['compacted', 'compacted'],
    );
    assert.equal(results[2]?.isError, undefined);
    assert.equal((await end()).code, 0);
    const verified = await runHere(['verify', '--archive', join(root, 'archive.db'), join(root, 'logs')]);
    assert.equal(verified.code, 0, verified.stderr);
  });

  test('two calls on one transcript at once leave it compacted once, and whole', async (t) => {
    const { file, archive, args } = scene(t);
    const { call, end } = await startMcp(t, args);
    const given = { path: 'talk.jsonl', in_place: true };
    const results = await Promise.all([call('compact_context', given), call('compact_context', given)]);
    const outcomes = results.map(({ structuredContent, isError }) => isError ?? structuredContent?.['result']);
    assert.equal(outcomes.filter((outcome) => outcome === 'compacted').length, 1, JSON.stringify(results));
    await end();
    assert.equal((await runHere(['restore', ...archive, file])).stdout, ORIGINAL);
  });

  test('what others archive meanwhile is found, and an archive that was taken away is not written to', async (t) => {
    const { root, archive, args } = scene(t);
    const { call, end } = await startMcp(t, args);
    assert.deepEqual((await call('memory_read', { query: 'parser' })).structuredContent?.['hits'], []);
    await runHere(['-i', ...archive, join(root, 'other/talk.jsonl')]);
    assert.notDeepEqual((await call('memory_read', { query: 'parser' })).structuredContent?.['hits'], []);
    for (const name of readdirSync(root)) if (name.startsWith('archive.db')) rmSync(join(root, name));
    await call('compact_context', { path: 'talk.jsonl', in_place: true });
    await end();
    assert.equal((await runHere(['restore', ...archive, join(root, 'logs/talk.jsonl')])).stdout, ORIGINAL);
  });

  test('SIGTERM in the middle of a call leaves the transcript as it was', async (t) => {
    const { file, logs, args } = scene(t);
    const script = { happening: { step: 'planned', what: { kind: 'signals', names: ['SIGTERM'] } } } as const;
    const { write, ended } = await startMcp(t, args, { script });
    const call = { name: 'compact_context', arguments: { path: 'talk.jsonl', in_place: true } };
    write(requestLine('last', 'tools/call', call));
    const { code, stderr, stdout } = await ended;
    assert.deepEqual([code, stderr, /"id":"last"/.test(stdout)], [143, '', false]);
    assert.deepEqual([readFileSync(file, 'utf8'), readdirSync(logs)], [ORIGINAL, ['talk.jsonl']]);
  });
});
