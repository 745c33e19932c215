import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { type Ended, jsonLines, runHere, runProcess } from '../support/program.ts';

const PROCESSES = Number(process.env['PROCESSES'] ?? 4);
/** PROCESSES=8 FILES_EACH=25 is the whole of it: 200 files. */
const FILES_EACH = Number(process.env['FILES_EACH'] ?? 2);

function transcripts(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: PROCESSES * FILES_EACH }, (_, at) => [
      `p${at % PROCESSES}/s${at}.jsonl`,
      chatTranscript(8 + (at % 5), at * 7),
    ]),
  );
}

/** Of all compactions but the one of a file. */
function countRows(archive: string, file: string): unknown {
  const db = new Database(archive, { readonly: true });
  try {
    return db.prepare(COUNT).get(`%/${file}`);
  } finally {
    db.close();
  }
}

const COUNT = `
SELECT count(DISTINCT compactions.id) AS applied, count(DISTINCT source_path) AS sources, count(lines.id) AS lines
FROM compactions JOIN blocks ON blocks.compaction_id = compactions.id JOIN lines ON lines.block_id = blocks.id
WHERE status = 'applied' AND source_path NOT LIKE ?`;

/** What readers of one compacted file have to complain of until `isOver`. */
async function readAgainAndAgain(
  archive: string,
  file: string,
  { original, isOver }: { readonly original: string; readonly isOver: () => boolean },
): Promise<readonly string[]> {
  const complaints: string[] = [];
  while (!isOver()) {
    const verified = await runHere(['verify', '-q', '--archive', archive, file]);
    const restored = await runHere(['restore', '-q', '--all', '--archive', archive, file]);
    if (verified.code !== 0 || restored.stdout !== original) complaints.push(verified.stderr + restored.stderr);
    await new Promise(setImmediate);
  }
  return complaints;
}

async function restoreAll(archive: string, files: readonly string[]): Promise<readonly string[]> {
  const pieces: Uint8Array[] = [];
  const progress = { update: () => undefined, finish: () => undefined };
  const useCases = createUseCases({
    archivePath: archive,
    progress,
    signal: new AbortController().signal,
    stdout: (bytes) => pieces.push(Uint8Array.from(bytes)),
    removeAtExit: () => () => undefined,
  });
  const texts: string[] = [];
  for (const path of files) {
    const input = { path, name: path, format: null };
    const restored = await useCases.restoreFile({ input, output: { kind: 'stdout' }, all: true }, progress);
    texts.push(restored.ok ? Buffer.concat(pieces.splice(0)).toString() : JSON.stringify(restored.error));
  }
  useCases.close();
  return texts;
}

test('several processes make one archive and fill it at once, while others read it: all is done, and no row is lost', async (t) => {
  const files = transcripts();
  const early = chatTranscript(9, 5000);
  const folder = folderWith(t, { ...files, 'early/talk.jsonl': early });
  const archive = join(folder, 'archive.db');
  const running = { writers: PROCESSES };
  const compact = async (name: string): Promise<Ended> => {
    const ended = await runProcess(['-i', '-q', '--json', '--archive', archive, join(folder, name)]);
    running.writers -= 1;
    return ended;
  };
  const writers = Promise.all(Array.from({ length: PROCESSES }, (_, at) => compact(`p${at}`)));
  const first = await runHere(['-i', '-q', '--archive', archive, join(folder, 'early/talk.jsonl')]);
  const isOver = (): boolean => running.writers === 0;
  const complaints = await readAgainAndAgain(archive, join(folder, 'early/talk.jsonl'), { original: early, isOver });
  const ended = await writers;
  assert.deepEqual([first.stderr, complaints], ['', []]);
  assert.deepEqual(
    ended.map(({ code, stderr }) => [code, stderr]),
    ended.map(() => [0, '']),
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('archive')),
    ['archive.db'],
  );

  const reports: readonly CompactReport[] = ended.flatMap(({ stdout }) => jsonLines(stdout));
  const lineCount = reports.reduce((sum, { ledger }) => sum + ledger.summarized + ledger.quoted + ledger.other, 0);
  assert.equal(reports.filter(({ result }) => result === 'compacted').length, PROCESSES * FILES_EACH);
  assert.deepEqual(countRows(archive, 'early/talk.jsonl'), {
    applied: reports.length,
    sources: reports.length,
    lines: lineCount,
  });

  const paths = Object.keys(files).map((name) => join(folder, name));
  assert.equal((await runHere(['verify', '-q', '--archive', archive, folder])).code, 0);
  assert.deepEqual(await restoreAll(archive, paths), Object.values(files));
});
