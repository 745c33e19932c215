import { rmSync } from 'node:fs';
import type { serve as startServing } from '../../src/cli/pool/worker.ts';

// The bundle starts in half the time.
const WORKER: string = '../../dist/cli/worker.js';
const { serve }: { readonly serve: typeof startServing } = await import(WORKER);

type Message =
  | { readonly kind: 'start' | 'interrupt' | 'close' }
  | { readonly kind: 'task'; readonly request: { readonly input: { readonly path: string } } };

/** It dies of files with certain names, and removes another before it is read. It does all others as the program does. */
process.on('message', (message: Message) => {
  if (message.kind !== 'task') return;
  const { path } = message.request.input;
  if (path.endsWith('vanishes.jsonl')) rmSync(path);
  if (path.endsWith('exits.jsonl')) process.exit(3);
  if (path.endsWith('crashes.jsonl')) process.kill(process.pid, 'SIGSEGV');
  if (path.endsWith('throws.jsonl')) throw new Error('thrown behind its back');
});
serve();
