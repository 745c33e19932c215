import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Reply } from './reply.ts';
import { type ModelServer, type RecordedRequest, REQUESTS_PATH, type Script, serveModels } from './server.ts';

/** A model server for one test, gone when the test is over. */
export async function startModelServer(context: TestContext, script: Script): Promise<ModelServer> {
  const server = await serveModels(script);
  context.after(server.close);
  return server;
}

export type ModelServerProcess = {
  readonly url: string;
  readonly host: string;
  readonly loadRequests: () => Promise<readonly RecordedRequest[]>;
};

/** The same in a process of its own, for tests that wait for the program without letting anything else run. */
export async function startModelServerProcess(
  context: TestContext,
  replies: readonly Reply[],
): Promise<ModelServerProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'serve.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  context.after(() => child.kill());
  child.stdin.end(JSON.stringify(replies));
  const [bytes] = await once(child.stdout, 'data');
  const url = String(bytes).trim();
  return {
    url,
    host: new URL(url).host,
    loadRequests: async () => readRequests(await (await fetch(`${url}${REQUESTS_PATH}`)).json()),
  };
}

function readRequests(recorded: unknown): readonly RecordedRequest[] {
  if (!Array.isArray(recorded)) throw new Error('the model server did not give its requests');
  return recorded;
}
