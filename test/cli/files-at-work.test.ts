import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { DEFAULT_THREAD_RULES, openFilesAtWork } from '../../src/cli/files-at-work.ts';
import type { Composition } from '../../src/compose/use-cases.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeUseCases } from './fakes.ts';

const MB = 1024 * 1024;
const NOTHING = (): void => undefined;
const COMPOSITION: Composition = {
  archivePath: '/nowhere/archive.db',
  progress: { update: NOTHING, finish: NOTHING },
  signal: new AbortController().signal,
  stdout: NOTHING,
  removeAtExit: () => NOTHING,
};

/** How many threads are started for files of these sizes, and how many files are worked on at a time. */
async function opened(
  t: TestContext,
  sizesMb: readonly number[],
  request: { readonly jobs: number | null; readonly isOffline?: boolean; readonly needsMemory?: boolean },
): Promise<{ readonly threads: number; readonly jobs: number }> {
  const folder = folderWith(t, Object.fromEntries(sizesMb.map((_, at) => [`${at}.jsonl`, ''])));
  const files = sizesMb.map((sizeMb, at) => {
    const path = join(folder, `${at}.jsonl`);
    truncateSync(path, sizeMb * MB);
    return { path };
  });
  const createUseCases = await createFakeUseCases().loadUseCases();
  const useCases = createUseCases(COMPOSITION);
  const started: number[] = [];
  const startThreads = async (threads: number) => {
    started.push(threads);
    return useCases;
  };
  const session = { useCases, threadRules: DEFAULT_THREAD_RULES, startThreads };
  const { jobs } = await openFilesAtWork(session, { files, isOffline: true, needsMemory: true, ...request });
  return { threads: started[0] ?? 0, jobs };
}

test('several files are worked on in as many threads as are asked for', async (t) => {
  assert.deepEqual(await opened(t, [1, 1, 1, 1, 1], { jobs: 3 }), { threads: 3, jobs: 3 });
  assert.deepEqual(await opened(t, [1, 1, 1, 1], { jobs: 9 }), { threads: 4, jobs: 4 });
});

test('few or small files are not worth a thread', async (t) => {
  assert.deepEqual(await opened(t, [1, 1, 1], { jobs: 3 }), { threads: 0, jobs: 3 });
  assert.deepEqual(await opened(t, [0, 0, 0, 0, 0], { jobs: null }), { threads: 0, jobs: 1 });
});

test('a large file has a thread of its own, unless it is written to standard output or a service summarizes', async (t) => {
  assert.deepEqual(await opened(t, [20], { jobs: null }), { threads: 1, jobs: 1 });
  assert.deepEqual(await opened(t, [1, 20], { jobs: 2 }), { threads: 1, jobs: 1 });
  assert.deepEqual(await opened(t, [20], { jobs: null, needsMemory: false }), { threads: 0, jobs: 1 });
  assert.deepEqual(await opened(t, [20], { jobs: null, isOffline: false }), { threads: 0, jobs: 1 });
});
