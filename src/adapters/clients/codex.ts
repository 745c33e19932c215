import { join } from 'node:path';
import type { Client, ClientHost } from '../../ports/clients.ts';
import { createJsonEdit } from './json-edit.ts';
import { hookEntry } from './launch.ts';
import { createTomlEdit } from './toml-edit.ts';

/** Seconds; the hooks answer in a tenth of one. Codex allows SessionEnd no more than 3. */
const TIMEOUT = 3;

/** Codex (0.169): hooks stand in hooks.json, MCP servers in config.toml. Codex runs a hook only after its user has trusted it. */
export function createCodex(host: ClientHost): Client {
  const given = host.environment['CODEX_HOME'] ?? '';
  const folder = given === '' ? join(host.homeFolder, '.codex') : given;
  const { command, args } = host.launch;
  return {
    name: 'codex',
    title: 'Codex',
    folders: [folder],
    program: 'codex',
    edits: [
      createJsonEdit({
        path: join(folder, 'hooks.json'),
        allowsComments: false,
        entries: [
          hookEntry(host, { client: 'codex', event: 'PreCompact', timeout: TIMEOUT }),
          hookEntry(host, { client: 'codex', event: 'SessionStart', matcher: 'compact', timeout: TIMEOUT }),
          hookEntry(host, { client: 'codex', event: 'SessionEnd', timeout: TIMEOUT }),
        ],
      }),
      createTomlEdit({
        path: join(folder, 'config.toml'),
        table: 'mcp_servers.compact',
        // JSON strings and lists are TOML too.
        lines: [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify([...args, 'mcp'])}`],
      }),
    ],
    nextStep: 'Codex runs the hooks once you have trusted them: type /hooks in it.',
  };
}
