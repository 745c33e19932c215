import { isAbsolute, join } from 'node:path';
import type { Client, ClientHost } from '../../ports/clients.ts';
import { createJsonEdit } from './json-edit.ts';
import { isManagedServer, markFor } from './launch.ts';
import { createManagedFile, MANAGED_FILE_MARK } from './managed-file.ts';

/**
 * OpenCode (1.18): loads every file in its folder of plugins, and MCP servers from opencode.json or opencode.jsonc. Before its first plugin
 * it waits for the package @opencode-ai/plugin, which it fetches itself.
 */
export function createOpenCode(host: ClientHost): Client {
  const given = host.environment['XDG_CONFIG_HOME'] ?? '';
  const folder = join(isAbsolute(given) ? given : join(host.homeFolder, '.config'), 'opencode');
  const plugins = join(folder, 'plugins');
  const { command, args } = host.launch;
  const content = [
    `// ${MANAGED_FILE_MARK}; \`compact install opencode --undo\` removes it.`,
    `import { createPlugin } from ${JSON.stringify(join(host.extensionsFolder, 'opencode.js'))};`,
    '',
    `export default createPlugin(${JSON.stringify({ command, args })});`,
    '',
  ].join('\n');
  const settings = ['opencode.jsonc', 'opencode.json'].map((name) => join(folder, name)).find(host.exists);
  return {
    name: 'opencode',
    title: 'OpenCode',
    folders: [folder],
    program: 'opencode',
    edits: [
      { ...createManagedFile({ path: join(plugins, 'compact.js'), content }), managedFolders: [plugins] },
      createJsonEdit({
        path: settings ?? join(folder, 'opencode.json'),
        allowsComments: true,
        entries: [
          {
            keys: ['mcp', 'compact'],
            kind: 'value',
            value: { type: 'local', command: [command, ...args, 'mcp'], environment: markFor('opencode') },
            isOurs: (value) => isManagedServer(value),
          },
        ],
      }),
    ],
    nextStep: 'Restart OpenCode to load the plugin.',
    needs: {
      path: join(folder, 'node_modules/@opencode-ai/plugin'),
      notice:
        'OpenCode needs its own package @opencode-ai/plugin before it loads any plugin, and has not downloaded it yet. Start OpenCode once with a network; offline, each start takes about a minute longer.',
    },
  };
}
