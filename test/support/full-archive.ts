import { appendFileSync, copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { openArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import type { Failure } from '../../src/app/contract/failure.ts';
import { type ArchiveCheckReport, checkArchive } from '../../src/app/search/check-archive.ts';
import { DEFAULT_COMPACTION_CONFIG } from '../../src/core/policy.ts';
import type { Result } from '../../src/core/result.ts';
import { createCompactor } from '../../src/index.ts';
import { chatTranscript, prose } from './chat.ts';
import { indexAll } from './indexing.ts';
import { messages } from './messages.ts';
import { createWorkbench, reportOf } from './workbench.ts';

const SESSION = new URL('../../fixtures/transcripts/claude-code/session.jsonl', import.meta.url);

/**
 * An archive with everything that one can have, closed, in a folder with its files. By the ids of its compactions: 1 to 4 a talk, in place (with
 * survivors, and re-summarized batches), 5 a fork of what 1 made, 6 a session of Claude Code, 7 the same again (with lines that are carried along), 8 a
 * file of which nothing was kept, 9 a file of two conversations, 10 a library's history, 11 one that is not confirmed.
 */
export async function makeFullArchive(): Promise<{ readonly folder: string; readonly remove: () => void }> {
  const bench = createWorkbench();
  const small = { chunkSize: 8, maxSummaryTokens: 120 };
  bench.write('talk.jsonl', chatTranscript(90));
  reportOf(await bench.compact('talk.jsonl', { compaction: small, targetTokens: 3000 }));
  copyFileSync(bench.path('talk.jsonl'), bench.path('fork.jsonl'));
  for (const from of [100, 200, 300]) {
    appendFileSync(bench.path('talk.jsonl'), chatTranscript(12, from));
    reportOf(await bench.compact('talk.jsonl', { compaction: small }));
  }
  appendFileSync(bench.path('fork.jsonl'), chatTranscript(20, 500));
  reportOf(await bench.compact('fork.jsonl', { compaction: small }));
  bench.write('session.jsonl', readFileSync(SESSION));
  const output = { kind: 'file', path: bench.path('session.compact.jsonl') } as const;
  reportOf(await bench.compact('session.jsonl', { output, compaction: small, targetTokens: 2000 }));
  appendFileSync(output.path, moreTurns(bench.read('session.compact.jsonl'), 20));
  reportOf(await bench.compact('session.compact.jsonl', { compaction: small }));
  bench.write('whole.jsonl', `\ufeff${chatTranscript(20, 700)}`);
  reportOf(await bench.compact('whole.jsonl', { compaction: { ...small, keepRecent: 0 }, keepSystem: false }));
  bench.write('two.jsonl', inTwoConversations(chatTranscript(40, 600)));
  reportOf(await bench.compact('two.jsonl', { compaction: small }));
  const compactor = createCompactor({
    model: bench.deps.model,
    archive: bench.archive(),
    config: { ...DEFAULT_COMPACTION_CONFIG, chunkSize: 10 },
    modelName: 'extractive',
  });
  const said = Array.from({ length: 25 }, (_, at) => ({ content: prose(at + 900, 80) }));
  await compactor.compress(messages(...said), 'library');
  bench.write('prepared.jsonl', chatTranscript(20, 800));
  reportOf(await bench.compact('prepared.jsonl'));
  await indexAll(bench.archive());
  await bench.archive().close();
  change(bench.archivePath, "UPDATE compactions SET status = 'prepared' WHERE source_path LIKE '%prepared.jsonl'");
  return { folder: bench.folder, remove: () => rmSync(bench.folder, { recursive: true, force: true }) };
}

/** Turns that hang on the last record of a session of Claude Code. */
function moreTurns(session: Buffer, turns: number): string {
  const lines = session.toString().trimEnd().split('\n');
  const last: { readonly uuid: string; readonly sessionId: string } = JSON.parse(lines.at(-1) ?? '');
  let parentUuid = last.uuid;
  return Array.from({ length: 2 * turns }, (_, at) => {
    const role = at % 2 === 0 ? 'user' : 'assistant';
    const uuid = `more-${at}`;
    const content = role === 'user' ? prose(at) : [{ type: 'text', text: prose(at) }];
    const timestamp = new Date(Date.UTC(2026, 4, 1, 8, at)).toISOString();
    const record = {
      parentUuid,
      isSidechain: false,
      sessionId: last.sessionId,
      type: role,
      message: { role, content },
      uuid,
      timestamp,
    };
    parentUuid = uuid;
    return `${JSON.stringify(record)}\n`;
  }).join('');
}

function inTwoConversations(chat: string): string {
  const lines = chat.trimEnd().split('\n');
  return lines
    .map(
      (line, at) => `${JSON.stringify({ ...JSON.parse(line), conversation_id: at < lines.length / 2 ? 'a' : 'b' })}\n`,
    )
    .join('');
}

/** SQL that changes the letters of a text in its pack, and nothing else. `table`: batches, whose texts are in quotation marks, or inserted_lines, of which it takes the `id`-th. */
export function spoilText(table: 'batches' | 'inserted_lines', id: number): string {
  const compaction =
    table === 'batches' ? '(SELECT compaction_id FROM cycles WHERE id = t.cycle_id)' : 't.compaction_id';
  const which =
    table === 'batches'
      ? `t.id = ${id}`
      : `(t.compaction_id, t.position) = (SELECT compaction_id, position FROM inserted_lines ORDER BY 1, 2 LIMIT 1 OFFSET ${id - 1})`;
  const find = (what: string): string => `
(SELECT ${what} FROM ${table} AS t JOIN blocks AS k ON k.compaction_id = ${compaction} AND k.position = -1 WHERE ${which})`;
  return `
UPDATE packs SET data = spoiled(data, ${find('k.pack_offset + t.text_offset + 1')}, ${find('t.text_size - 3')}) WHERE id = ${find('k.pack_id')}`;
}

/** Changes an archive behind its back: nothing of SQLite's or ours stands in the way. */
export function change(path: string, sql: string): void {
  const db = new Database(path);
  db.unsafeMode(true);
  db.pragma('foreign_keys = OFF');
  db.pragma('ignore_check_constraints = ON');
  db.function('spoiled', { deterministic: true }, (data, from, size) => {
    const raw = zstdDecompressSync(data as Uint8Array);
    return zstdCompressSync(raw.fill('x', Number(from), Number(from) + Number(size)));
  });
  db.exec(sql);
  db.close();
}

/** A copy of the folder, for one test to damage: gives its path. */
export function copyOf(context: TestContext, folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'compact-damage-'));
  context.after(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(folder, copy, { recursive: true });
  return copy;
}

export async function checked(
  path: string,
  signal = new AbortController().signal,
): Promise<Result<ArchiveCheckReport, Failure>> {
  const opened = await openArchive({ path, create: false });
  try {
    return await checkArchive({
      openArchive: async () => opened,
      archivePath: path,
      runtime: createNodeRuntime(),
      signal,
      progress: { update: () => undefined, finish: () => undefined },
    });
  } finally {
    if (opened.ok) await opened.value.close();
  }
}
