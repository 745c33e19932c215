import { join } from 'node:path';
import type { Client, ClientHost } from '../../ports/clients.ts';
import { createJsonEdit } from './json-edit.ts';
import { hookEntry, isManagedServer, markFor } from './launch.ts';

/** Seconds; the hooks answer in a tenth of one. Claude Code itself ends those of SessionEnd after 1.5. */
const TIMEOUT = 10;

/**
 * Claude Code (2.1): hooks stand in settings.json; MCP servers for all projects in .claude.json, which is in the home folder unless
 * CLAUDE_CONFIG_DIR names another folder for both.
 */
export function createClaudeCode(host: ClientHost): Client {
  const given = host.environment['CLAUDE_CONFIG_DIR'] ?? '';
  const folder = given === '' ? join(host.homeFolder, '.claude') : given;
  const { command, args } = host.launch;
  return {
    name: 'claude',
    title: 'Claude Code',
    folders: [folder],
    program: 'claude',
    edits: [
      createJsonEdit({
        path: join(folder, 'settings.json'),
        allowsComments: false,
        entries: [
          hookEntry(host, { client: 'claude', event: 'PreCompact', timeout: TIMEOUT }),
          hookEntry(host, { client: 'claude', event: 'SessionStart', matcher: 'compact', timeout: TIMEOUT }),
          hookEntry(host, { client: 'claude', event: 'SessionEnd', timeout: TIMEOUT }),
        ],
      }),
      createJsonEdit({
        path: join(given === '' ? host.homeFolder : folder, '.claude.json'),
        allowsComments: false,
        entries: [
          {
            keys: ['mcpServers', 'compact'],
            kind: 'value',
            value: { type: 'stdio', command, args: [...args, 'mcp'], env: markFor('claude') },
            isOurs: (value) => isManagedServer(value),
          },
        ],
      }),
    ],
    nextStep: 'Claude Code reads this when it starts the next time.',
  };
}
