import { text as readText } from 'node:stream/consumers';
import type { Reply } from './reply.ts';
import { serveModels } from './server.ts';

/** A model server as a process of its own: the replies come as JSON on stdin, its URL goes to stdout. */

const replies: readonly Reply[] = JSON.parse(await readText(process.stdin));
const { url } = await serveModels(replies);
process.stdout.write(`${url}\n`);
