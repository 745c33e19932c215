import { join } from 'node:path';
import { createClients } from '../adapters/clients/clients.ts';
import { createInstallRecords } from '../adapters/clients/records.ts';
import { createClientFiles } from '../adapters/fs/client-files.ts';
import { createNodeRuntime } from '../adapters/runtime/node.ts';
import { installClient } from '../app/install/install-client.ts';
import { stateFolder } from '../config/find.ts';
import type { Installer, InstallerOptions } from './use-cases.ts';

/** Installs this program in others. It reads no configuration: a project cannot have a say in it. */
export function createInstaller({ host, launch, extensionsFolder, removeAtExit }: InstallerOptions): Installer {
  const files = createClientFiles({ removeAtExit, path: host.environment['PATH'] ?? '' });
  const records = createInstallRecords(join(stateFolder(host), 'installed'), files);
  return {
    clients: createClients({ ...host, launch, extensionsFolder, exists: files.exists }),
    install: (request) => installClient({ files, records, runtime: createNodeRuntime() }, request),
  };
}
