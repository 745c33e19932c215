import { once } from 'node:events';
import { createServer } from 'node:http';
import type { TestContext } from 'node:test';

export type RecordingServer = {
  /** Without a path. */
  readonly url: string;
  /** Every request, and every host that it was asked to connect to as a proxy. */
  readonly heard: readonly string[];
  /** Has a process send all its requests for other machines here. */
  readonly asProxy: Readonly<Record<string, string>>;
};

/** A server on loopback that answers nothing of use and keeps what it was sent; gone when the test is over. */
export async function startRecordingServer(context: TestContext): Promise<RecordingServer> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url}`);
    request.resume();
    response.writeHead(400).end();
  });
  server.on('connect', (request, socket) => {
    heard.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return { url, heard, asProxy: { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, HTTPS_PROXY: url } };
}
