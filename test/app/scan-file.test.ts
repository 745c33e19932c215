import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import type { Failure } from '../../src/app/contract/failure.ts';
import { scanFile, type ScanFilter, type ScanReport } from '../../src/app/survey/scan-file.ts';
import type { Result } from '../../src/core/result.ts';
import type { FileStore } from '../../src/ports/files.ts';
import { chatTranscript } from '../support/chat.ts';
import { TITLES } from '../support/client-lists.ts';
import { STORED_SESSIONS } from '../support/stored-sessions.ts';
import { benchFor, benchWith, policyOf, reportOf, type Workbench } from '../support/workbench.ts';

const ANY: ScanFilter = { format: null, largerThanBytes: null, before: null };

function survey(
  { deps, path }: Workbench,
  name: string,
  only: Partial<ScanFilter> = {},
): Promise<Result<ScanReport | null, Failure>> {
  return scanFile(deps, {
    input: { path: path(name), name, format: null },
    policy: policyOf(),
    provider: 'extractive',
    modelName: 'extractive',
    only: { ...ANY, ...only },
  });
}

async function surveyed(bench: Workbench, name: string, only: Partial<ScanFilter> = {}): Promise<ScanReport | null> {
  const result = await survey(bench, name, only);
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

/** A store that counts how often a file is opened. */
function countingStore(): { readonly files: FileStore; readonly opened: () => number } {
  const real = createFileStore();
  let count = 0;
  return {
    files: {
      ...real,
      open: (path) => {
        count += 1;
        return real.open(path);
      },
    },
    opened: () => count,
  };
}

const SESSION = STORED_SESSIONS.find(({ format }) => format === 'claude-code')?.first ?? '';
const LAST_SAID = new Date('2026-05-05T09:15:03.000Z');

test('a transcript is reported with its project, its last message and the figures of a dry run', async (t) => {
  const bench = benchWith(t, 'x.jsonl', SESSION);
  utimesSync(bench.path('x.jsonl'), 1_800_000_000, 1_800_000_000.5);
  const plan = reportOf(await bench.compact('x.jsonl', { output: { kind: 'none' } }));
  const [conversation] = plan.conversations;
  const tokens = conversation?.tokens ?? { before: 0, after: 0, by: '' };
  const { title, bytesAfter, archiveBytes, ...rest } = (await surveyed(bench, 'x.jsonl')) ?? assert.fail();
  assert.match(title ?? '', /^the0 parser\.ts line config\.json 8080/);
  assert.deepEqual([bytesAfter, archiveBytes], [plan.plan?.bytesAfter, plan.plan?.archiveBytes]);
  assert.deepEqual(rest, {
    schema: 'compact/scan@1',
    file: 'x.jsonl',
    format: 'claude-code',
    id: 'stored-session',
    project: '/w',
    model: null,
    at: LAST_SAID.toISOString(),
    modified: '2027-01-15T08:00:00.500Z',
    bytes: SESSION.length,
    netBytes: 45_056 - 4096 * Math.ceil(bytesAfter / 4096) - archiveBytes,
    conversations: 1,
    messages: 64,
    tokens,
    saving: tokens.before - tokens.after,
  });
  assert.ok(tokens.before > tokens.after);
});

test('a compacted session keeps the title that its first request gave it', async (t) => {
  const bench = benchWith(t, 'x.jsonl', SESSION);
  const before = await surveyed(bench, 'x.jsonl');
  reportOf(await bench.compact('x.jsonl', { output: { kind: 'in-place' } }));
  const after = await surveyed(bench, 'x.jsonl');
  assert.ok((before?.messages ?? 0) > (after?.messages ?? 0));
  assert.equal(after?.title?.slice(0, 40), before?.title?.slice(0, 40));
});

test("a session's title is the one that its client's list shows", async (t) => {
  const bench = benchFor(t);
  for (const name of ['pi/extensions-and-labels.jsonl', 'pi/session.jsonl', 'gemini/session.jsonl']) {
    const file = readFileSync(join(import.meta.dirname, '../../fixtures/transcripts', name));
    bench.write('x.jsonl', file);
    const title = TITLES.get(name.split('/', 1)[0] ?? '')?.(file);
    assert.ok(title);
    assert.equal((await surveyed(bench, 'x.jsonl'))?.title, title.split('\n', 1)[0]);
  }
});

test('the model is the one that answered last, by the records of each format that names it', async (t) => {
  const bench = benchFor(t);
  const models = new Map<string, string | null | undefined>();
  for (const name of [
    'claude-code/session.jsonl',
    'claude-stream/run.jsonl',
    'codex/rollout.jsonl',
    'copilot/session.jsonl',
    'gemini/session.jsonl',
    'gemini-document/session.json',
    'kimi-code/session.jsonl',
    'opencode/session.json',
    'pi/session.jsonl',
    'qwen/crlf.jsonl',
    'chat-lines/conversation.jsonl',
  ]) {
    const [format = ''] = name.split('/', 1);
    bench.write(`${format}.json`, readFileSync(join(import.meta.dirname, '../../fixtures/transcripts', name)));
    models.set(format, (await surveyed(bench, `${format}.json`))?.model);
  }
  assert.deepEqual(Object.fromEntries(models), {
    'claude-code': 'claude-made-up',
    'claude-stream': 'claude-test-1',
    codex: 'gpt-5',
    copilot: 'pilot-4',
    gemini: 'gemini-3-pro',
    'gemini-document': 'gemini-2.5-pro',
    'kimi-code': 'kimi-k9',
    opencode: 'm-1',
    pi: 'pilot-2',
    qwen: 'qwen3-coder-plus',
    'chat-lines': null,
  });
});

test('a transcript that would be skipped saves nothing, and the report says why', async (t) => {
  const bench = benchWith(t, 'x.jsonl', chatTranscript(1));
  const report = await surveyed(bench, 'x.jsonl');
  assert.deepEqual([report?.saving, report?.reason, report?.at], [0, 'too-short', null]);
});

test('a scan writes nothing, and opens no archive for files that were never compacted', async (t) => {
  const bench = benchWith(t, 'x.jsonl', SESSION, { openArchive: () => assert.fail('the archive was opened') });
  assert.notEqual(await surveyed(bench, 'x.jsonl'), null);
  assert.deepEqual(readdirSync(bench.folder), ['x.jsonl']);
});

test('a transcript that was compacted with the same settings has nothing new, until something is appended', async (t) => {
  const bench = benchWith(t, 'x.jsonl', SESSION);
  reportOf(await bench.compact('x.jsonl'));
  const before = statSync(bench.path('x.jsonl'), { bigint: true });
  const report = await surveyed(bench, 'x.jsonl');
  assert.deepEqual([report?.saving, report?.reason], [0, 'nothing-new']);
  assert.equal(statSync(bench.path('x.jsonl'), { bigint: true }).ctimeNs, before.ctimeNs);
  const more = STORED_SESSIONS.find(({ format }) => format === 'claude-code')?.more ?? '';
  bench.write('x.jsonl', Buffer.concat([bench.read('x.jsonl'), Buffer.from(more)]));
  const grown = await surveyed(bench, 'x.jsonl');
  assert.equal(grown?.reason, undefined);
  assert.ok((grown?.saving ?? 0) > 0);
});

test('a file that is not larger than asked for is not opened', async (t) => {
  const { files, opened } = countingStore();
  const bench = benchWith(t, 'x.jsonl', SESSION, { files });
  assert.equal(await surveyed(bench, 'x.jsonl', { largerThanBytes: SESSION.length }), null);
  assert.equal(opened(), 0);
  assert.notEqual(await surveyed(bench, 'x.jsonl', { largerThanBytes: SESSION.length - 1 }), null);
});

test('a transcript of another format, or with a message too new, is not read whole', async (t) => {
  const { files, opened } = countingStore();
  const bench = benchWith(t, 'x.jsonl', SESSION, { files });
  assert.equal(await surveyed(bench, 'x.jsonl', { format: 'codex' }), null);
  assert.equal(await surveyed(bench, 'x.jsonl', { before: LAST_SAID }), null);
  assert.equal(opened(), 2);
  const later = new Date(LAST_SAID.getTime() + 1);
  assert.notEqual(await surveyed(bench, 'x.jsonl', { format: 'claude-code', before: later }), null);
});

test('a last message is found behind a tail that has none', async (t) => {
  const bench = benchFor(t);
  const snapshot = { type: 'file-history-snapshot', messageId: 'm', snapshot: { text: 'x'.repeat(100_000) } };
  bench.write('x.jsonl', `${SESSION}${JSON.stringify(snapshot)}\n`);
  assert.equal(await surveyed(bench, 'x.jsonl', { before: LAST_SAID }), null);
  assert.equal((await surveyed(bench, 'x.jsonl'))?.at, LAST_SAID.toISOString());
});

test('where messages have no times, the last write to the file counts', async (t) => {
  const bench = benchWith(t, 'x.jsonl', chatTranscript(4));
  utimesSync(bench.path('x.jsonl'), 1_700_000_000, 1_700_000_000);
  const isWanted = async (seconds: number) =>
    (await surveyed(bench, 'x.jsonl', { before: new Date(seconds * 1000) })) !== null;
  assert.deepEqual([await isWanted(1_700_000_000), await isWanted(1_700_000_001)], [false, true]);
});

test('a line that is being written is looked at again, a damaged one is a failure', async (t) => {
  const torn = `${SESSION}{"type":"us`;
  const real = createFileStore();
  const state = { stamps: 0 };
  const bench = benchFor(t, {
    files: {
      ...real,
      stamp: (path) => {
        state.stamps += 1;
        // It was read once: its writer is done now.
        if (state.stamps === 2) bench.write('x.jsonl', SESSION);
        return real.stamp(path);
      },
    },
  });
  bench.write('x.jsonl', torn);
  assert.equal((await surveyed(bench, 'x.jsonl'))?.messages, 64);
  const still = benchFor(t);
  still.write('x.jsonl', torn);
  const failed = await survey(still, 'x.jsonl');
  assert.deepEqual(failed.ok || failed.error.kind, 'bad-line');
});

test('a file that does not come to rest is a failure that says so', async (t) => {
  const real = createFileStore();
  const bench = benchFor(t, {
    files: {
      ...real,
      stamp: (path) => {
        bench.write('x.jsonl', Buffer.concat([bench.read('x.jsonl'), Buffer.from(' ')]));
        return real.stamp(path);
      },
    },
  });
  bench.write('x.jsonl', `${SESSION}{"type":"us`);
  assert.deepEqual(await survey(bench, 'x.jsonl'), {
    ok: false,
    error: { kind: 'source-changed', file: 'x.jsonl' },
  });
});

test('a file that is gone is a failure that names it', async (t) => {
  const failed = await survey(benchFor(t), 'gone.jsonl', { largerThanBytes: 5 });
  assert.deepEqual(failed, { ok: false, error: { kind: 'file', failure: { kind: 'not-found', path: 'gone.jsonl' } } });
});
