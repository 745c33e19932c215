import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where Claude Code keeps the sessions of a folder. */
export function projectFolder(home: string, folder: string): string {
  return join(home, '.claude/projects', folder.replaceAll(/[^A-Za-z0-9]/g, '-'));
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
