import { globSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { openPostgresArchive } from '../../src/adapters/archive/postgres/open.ts';
import { openArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { searchArchive } from '../../src/app/search/search-archive.ts';
import type { Archive, LineDraft } from '../../src/ports/archive.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  utf8,
} from '../adapters/archive/drafts.ts';
import { INDEX_DEPS, indexAll } from '../support/indexing.ts';
import { createTalk, type Talk } from './talk.ts';

const USAGE = `npm run dev -- bench:search --archive <file.db or postgres://...> [--messages 1000000] [--queries 200]
Fills an empty archive with made-up sessions, and then measures searches of it.`;
const SESSION_MESSAGES = 1000;
const SUMMARY_SENTENCES = 60;
const START = Date.UTC(2026, 0, 1);
const ANY = { conversation: null, role: null, since: null, until: null, source: null } as const;

const { values } = parseArgs({
  options: {
    archive: { type: 'string' },
    messages: { type: 'string', default: '1000000' },
    queries: { type: 'string', default: '200' },
  },
});
if (values.archive === undefined) throw new Error(USAGE);
const archive = await open(values.archive);
const { messages } = await archive.measure();
if (messages === 0) await fill(archive, Number(values.messages));
const begun = performance.now();
await indexAll(archive);
console.error(`indexed in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
await measureSearches(archive, Number(values.queries));
await archive.close();

async function open(path: string): Promise<Archive> {
  const opened = path.startsWith('postgres')
    ? await openPostgresArchive({ url: path, create: true, notice: console.error, wait: async () => undefined })
    : await openArchive({ path, create: true });
  if (!opened.ok || opened.value === null) throw new Error(JSON.stringify(opened));
  return opened.value;
}

/** Stores sessions as a compaction of each would. */
async function fill(target: Archive, count: number): Promise<void> {
  const talk = createTalk(1);
  for (let done = 0, session = 1; done < count; done += SESSION_MESSAGES, session += 1) {
    const size = Math.min(SESSION_MESSAGES, count - done);
    const say = talk.startSession();
    const lines = Array.from({ length: size }, (_, at) => messageLine(say(), { at, session }));
    const content = Array.from({ length: SUMMARY_SENTENCES }, say).join('\n');
    const name = `session-${session}`;
    const cycle = cycleDraft({
      conversationId: name,
      clipSha256: sha256(name),
      messagesCompressed: size,
      newBatches: [batchDraft({ content, messageCount: size, lastIndex: size })],
    });
    const source = { sha256: sha256(`source ${name}`), sizeBytes: 100, lineCount: size, hasBom: false };
    const draft = compactionDraft(size, { source, sourcePath: `/logs/${name}.jsonl`, cycles: [cycle] });
    const writer = await target.begin({ batchCounts: [1] });
    await writer.append(lines);
    await target.markApplied((await writer.commit(draft)).id);
    if (session % 50 === 0) console.error(`${done + size} messages stored`);
  }
}

function messageLine(text: string, { at, session }: { readonly at: number; readonly session: number }): LineDraft {
  const role = at % 2 === 0 ? 'user' : 'assistant';
  const time = new Date(START + (session * SESSION_MESSAGES + at) * 30_000);
  const id = `s${session}-${at}`;
  const bytes = utf8(`${JSON.stringify({ role, content: text, id, created_at: time.toISOString() })}\n`);
  return lineDraft(at + 1, { bytes, message: messageDraft({ id, role, at: time, index: at + 1, text }) });
}

/** Single words, three words, and questions, each about one of the sessions. */
async function measureSearches(from: Archive, count: number): Promise<void> {
  const talk = createTalk(2);
  const deps = {
    openArchive: () => Promise.resolve({ ok: true, value: from } as const),
    archivePath: from.path,
    ...INDEX_DEPS,
  };
  const kinds: readonly (keyof Talk['ask'])[] = ['word', 'words', 'question', 'longQuestion'];
  const spent: { kind: string; wallMs: number; clientMs: number; serverMs: number }[] = [];
  for (let at = -kinds.length; at < count; at += 1) {
    const kind = kinds[(at + kinds.length) % kinds.length] ?? 'word';
    const query = talk.ask[kind]();
    const [server, cpu, begun] = [serverCpuMs(), process.cpuUsage(), performance.now()];
    const found = await searchArchive(deps, { ...ANY, query, kinds: 'all', order: 'best', limit: 10 });
    const wallMs = performance.now() - begun;
    const { user, system } = process.cpuUsage(cpu);
    if (!found.ok) throw new Error(JSON.stringify(found.error));
    // The first searches open connections and compile code.
    if (at >= 0) spent.push({ kind, wallMs, clientMs: (user + system) / 1000, serverMs: serverCpuMs() - server });
  }
  console.log(`${values.archive}: ${count} searches, load ${loadavg()[0]?.toFixed(1)}`);
  for (const kind of ['all', ...kinds]) {
    const of = spent.filter((one) => kind === 'all' || one.kind === kind);
    const rank = (share: number, key: 'wallMs' | 'clientMs' | 'serverMs' | 'cpuMs'): string => {
      const all = of.map((one) => (key === 'cpuMs' ? one.clientMs + one.serverMs : one[key])).toSorted((a, b) => a - b);
      return (all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0).toFixed(0).padStart(6);
    };
    const line = (['wallMs', 'cpuMs', 'clientMs', 'serverMs'] as const).map(
      (key) => `${key} p50 ${rank(0.5, key)} p95 ${rank(0.95, key)}`,
    );
    console.log(kind.padEnd(14), line.join('   '));
  }
}

/** Processor time of all Postgres processes of this machine. */
function serverCpuMs(): number {
  const spentNs = globSync('/proc/[0-9]*').map((folder) => {
    try {
      const isServer = readFileSync(`${folder}/comm`, 'utf8') === 'postgres\n';
      return isServer ? Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) : 0;
    } catch {
      return 0; // it has ended
    }
  });
  return spentNs.reduce((sum, one) => sum + one, 0) / 1e6;
}
