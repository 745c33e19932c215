import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const dashed = (folder: string): string => folder.replaceAll(/[^A-Za-z0-9]/g, '-');

/** Where Claude Code keeps the sessions of a folder. */
export function projectFolder(home: string, folder: string): string {
  return join(home, '.claude/projects', dashed(folder));
}

type Held = {
  readonly id: string;
  readonly folder: string;
  /** Requests, each with its answer. */
  readonly said: readonly (readonly [request: string, answer: string])[];
};

/** Writes a session as Claude Code does. */
export function claudeSession(file: string, { id, folder, said }: Held): void {
  const messages = said.flatMap(([request, answer]) => [
    { role: 'user', content: request },
    { role: 'assistant', content: [{ type: 'text', text: answer }] },
  ]);
  const lines = messages.map((message, at) => ({
    type: message.role,
    uuid: `m${at + 1}`,
    parentUuid: at === 0 ? null : `m${at}`,
    sessionId: id,
    cwd: folder,
    version: '2.1.197',
    timestamp: new Date(Date.UTC(2026, 2, 2, 10, at)).toISOString(),
    message,
  }));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

const ROOT = join(import.meta.dirname, '../..');

type Kept = {
  readonly format: string;
  /** The folder and the id in the fixture, for those of the test. */
  readonly replaced: Readonly<Record<string, string>>;
  readonly id: string;
  /** Where the client keeps it, below the home. */
  readonly place: (folder: string) => string;
  /** What else it keeps of the session, below the home. */
  readonly beside?: (folder: string) => Readonly<Record<string, string>>;
};

const FOLDER = 'FOLDER';
const GEMINI_ID = '9b9b9b9b-0000-4000-8000-000000000001';
const KIMI_ID = 'session_00000000-0000-4000-8000-000000000001';
const workspaceOf = (folder: string): string =>
  `.kimi-code/sessions/wd_${basename(folder)}_${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`;

/** A session of each client that keeps them in files, as it keeps it. */
export const KEPT_SESSIONS = [
  {
    format: 'claude-code',
    replaced: { '/home/kim/lanterns': FOLDER },
    id: '00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
    place: (folder) => `.claude/projects/${dashed(folder)}/00000001-aaaa-4aaa-8aaa-aaaaaaaaaaaa.jsonl`,
  },
  {
    format: 'codex',
    replaced: { '/w/harbor': FOLDER },
    id: '019b7e00-0000-7000-8000-000000000001',
    place: () => '.codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-019b7e00-0000-7000-8000-000000000001.jsonl',
  },
  {
    format: 'gemini',
    replaced: { 'session-session': GEMINI_ID, '/home/me/station': FOLDER },
    id: GEMINI_ID,
    place: () => '.gemini/tmp/station/chats/session-2026-03-02T09-00-9b9b9b9b.jsonl',
    beside: (folder) => ({ '.gemini/tmp/station/.project_root': folder }),
  },
  {
    format: 'pi',
    replaced: { '/home/ada/ferry': FOLDER },
    id: '0198a000-0000-7000-8000-000000000003',
    place: (folder) =>
      `.pi/agent/sessions/--${dashed(folder).slice(1)}--/2026-05-04T08-00-00-000Z_0198a000-0000-7000-8000-000000000003.jsonl`,
  },
  {
    format: 'copilot',
    replaced: { '/home/ada/lock': FOLDER },
    id: '5ea51de0-0000-4000-8000-000000000001',
    place: () => '.copilot/session-state/5ea51de0-0000-4000-8000-000000000001/events.jsonl',
  },
  {
    format: 'qwen',
    replaced: { '/home/me/boat': FOLDER },
    id: '7a1e0000-0000-4000-8000-000000000001',
    place: (folder) => `.qwen/projects/${dashed(folder)}/chats/7a1e0000-0000-4000-8000-000000000001.jsonl`,
  },
  {
    format: 'kimi-code',
    replaced: { '/home/me/harbour': FOLDER },
    id: KIMI_ID,
    place: (folder) => `${workspaceOf(folder)}/${KIMI_ID}/agents/main/wire.jsonl`,
    beside: (folder) => ({
      [`${workspaceOf(folder)}/${KIMI_ID}/state.json`]: JSON.stringify({ id: KIMI_ID, version: 2, cwd: folder }),
    }),
  },
] as const satisfies readonly Kept[];

/** Keeps the fixture `session.jsonl` of a client (`rollout.jsonl` of Codex) as a session of a folder. Gives the path. */
export function keepSession(home: string, folder: string, { format, replaced, place, beside }: Kept): string {
  const fixture = join(ROOT, 'fixtures/transcripts', format, format === 'codex' ? 'rollout.jsonl' : 'session.jsonl');
  let text = readFileSync(fixture, 'utf8');
  for (const [from, to] of Object.entries(replaced)) text = text.replaceAll(from, to === FOLDER ? folder : to);
  const path = join(home, place(folder));
  for (const [name, content] of [[path, text], ...Object.entries(beside?.(folder) ?? {})] as const) {
    const file = name.startsWith(home) ? name : join(home, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return path;
}
