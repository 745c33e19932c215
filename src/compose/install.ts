import { join } from 'node:path';
import { createClients, createInstallRecords } from '../adapters/clients/clients.ts';
import { createClientFiles } from '../adapters/fs/client-files.ts';
import { createNodeRuntime } from '../adapters/runtime/node.ts';
import { installClient, type InstallRequest } from '../app/install/install-client.ts';
import { type HostEnvironment, stateFolder } from '../config/find.ts';
import type { ClientHost, LaunchCommand } from '../ports/clients.ts';
import type { RemoveAtExit } from '../ports/files.ts';

type InstallerOptions = {
  readonly host: HostEnvironment;
  readonly launch: LaunchCommand;
  readonly extensionSource: ClientHost['extensionSource'];
  readonly removeAtExit: RemoveAtExit;
};

/** Installs this program in others. It reads no configuration: a project cannot have a say in it. */
export function createInstaller({ host, launch, extensionSource, removeAtExit }: InstallerOptions) {
  const files = createClientFiles({ removeAtExit, path: host.environment['PATH'] ?? '' });
  const records = createInstallRecords(join(stateFolder(host), 'installed'), files);
  return {
    clients: createClients({ ...host, launch, extensionSource, exists: files.exists }),
    install: (request: InstallRequest) => installClient({ files, records, runtime: createNodeRuntime() }, request),
  };
}
