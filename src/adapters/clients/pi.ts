import { join } from 'node:path';
import type { Client, ClientHost } from '../../ports/clients.ts';
import { createManagedFile, MANAGED_FILE_MARK } from './managed-file.ts';

/** pi (0.73): loads every file in its folder of extensions. */
export function createPi(host: ClientHost): Client {
  const given = host.environment['PI_CODING_AGENT_DIR'] ?? '';
  const folder = given === '' ? join(host.homeFolder, '.pi/agent') : given;
  const extensions = join(folder, 'extensions');
  const source = JSON.stringify(join(host.extensionsFolder, 'pi.js'));
  const content = `// ${MANAGED_FILE_MARK}; \`compact install pi --undo\` removes it.\nexport { default } from ${source};\n`;
  return {
    name: 'pi',
    title: 'pi',
    folders: [folder],
    program: 'pi',
    edits: [{ ...createManagedFile({ path: join(extensions, 'compact.js'), content }), managedFolders: [extensions] }],
    nextStep: 'pi loads the extension when it starts the next time, or after /reload.',
  };
}
