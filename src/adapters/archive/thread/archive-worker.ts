import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type OpenArchiveOptions, openArchive } from '../sqlite.ts';
import type { ArchiveThreadRequest } from './open-in-thread.ts';
import { serveArchive } from './serve-archive.ts';

// The thread of an archive: opens it, reports how that went, and serves ports until it is asked to close.

const owner: MessagePort | null = parentPort;
if (owner === null) throw new Error('this file runs only as a worker thread');
const options: OpenArchiveOptions = workerData;
const opened = await openArchive(options);
owner.postMessage(opened.ok ? null : opened.error, []);
if (opened.ok) {
  const ports: MessagePort[] = [];
  owner.on('message', async (request: ArchiveThreadRequest) => {
    if (request.kind === 'serve') {
      ports.push(request.port);
      serveArchive(opened.value, request.port);
      return;
    }
    for (const port of ports) port.close();
    await opened.value.close();
    owner.close();
  });
}
