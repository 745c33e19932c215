import { closeSync, openSync, readSync } from 'node:fs';

/** The measure of all things here: find `\n` in buffers of 1 MiB, decode, JSON.parse. Prints the milliseconds it took. */
const BUFFER_BYTES = 1024 * 1024;
const LF = 10;

const fd = openSync(process.argv[2] ?? '', 'r');
const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
let filled = 0;
const before = performance.now();
for (;;) {
  const count = readSync(fd, buffer, filled, BUFFER_BYTES - filled, null);
  if (count === 0) break;
  filled += count;
  let begin = 0;
  for (let at = buffer.indexOf(LF); at >= 0 && at < filled; at = buffer.indexOf(LF, begin)) {
    JSON.parse(buffer.toString('utf8', begin, at));
    begin = at + 1;
  }
  buffer.copyWithin(0, begin, filled);
  filled -= begin;
}
closeSync(fd);
process.stdout.write(`${performance.now() - before}\n`);
