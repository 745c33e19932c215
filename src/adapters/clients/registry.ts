import type { Client, ClientHost } from '../../ports/clients.ts';
import { createClaudeCode } from './claude-code.ts';
import { createCodex } from './codex.ts';
import { createGemini } from './gemini.ts';
import { createOpenCode } from './opencode.ts';
import { createPi } from './pi.ts';

/** Every client that `compact install` can set up. */
const CLIENTS: readonly ((host: ClientHost) => Client)[] = [
  createClaudeCode,
  createCodex,
  createGemini,
  createPi,
  createOpenCode,
];

export function createClients(host: ClientHost): readonly Client[] {
  return CLIENTS.map((create) => create(host));
}
