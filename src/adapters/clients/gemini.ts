import { join } from 'node:path';
import type { Client, ClientHost, FileEdit } from '../../ports/clients.ts';
import { hookEntry } from './launch.ts';
import { createManagedFile, MANAGED_FILE_MARK } from './managed-file.ts';

/** Milliseconds; the hooks answer in a tenth of a second. */
const TIMEOUT = 5000;
const EVENTS = ['PreCompress', 'SessionEnd'];

/** Gemini CLI (0.61): loads every folder of extensions; each has a manifest, and hooks in a file of their own. */
export function createGemini(host: ClientHost): Client {
  const given = host.environment['GEMINI_CLI_HOME'] ?? '';
  const folder = join(given === '' ? host.homeFolder : given, '.gemini');
  const extensions = join(folder, 'extensions');
  const extension = join(extensions, 'compact');
  const { command, args } = host.launch;
  const description = `${MANAGED_FILE_MARK}; \`compact install gemini --undo\` removes it.`;
  const hooks = EVENTS.map((event) => [event, [hookEntry(host, { client: 'gemini', event, timeout: TIMEOUT }).value]]);
  const toFile = (path: string, value: object, managedFolders: readonly string[]): FileEdit => {
    const content = `${JSON.stringify({ description, ...value }, null, 2)}\n`;
    return { ...createManagedFile({ path: join(extension, path), content }), managedFolders };
  };
  return {
    name: 'gemini',
    title: 'Gemini CLI',
    folders: [folder],
    program: 'gemini',
    edits: [
      toFile('hooks/hooks.json', { hooks: Object.fromEntries(hooks) }, [join(extension, 'hooks')]),
      toFile(
        'gemini-extension.json',
        { name: 'compact', version: '1.0.0', mcpServers: { compact: { command, args: [...args, 'mcp'] } } },
        [extension, extensions],
      ),
    ],
    nextStep: 'Gemini CLI loads the extension when it starts the next time.',
  };
}
