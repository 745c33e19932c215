import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import type { LineDraft } from '../../../src/ports/archive.ts';
import { compactionDraft, lineDraft, openAt } from './drafts.ts';

/**
 * `hang`: stops for good in the middle of storing a compaction, after it has told so. `make N`: makes N archives in the folder `path`.
 */
const [path = '', mode, count] = process.argv.slice(2);
const archive = openAt(mode === 'make' ? join(path, '0.db') : path);

function* endless(): IterableIterator<LineDraft> {
  for (let line = 1; line <= 80; line += 1) yield lineDraft(line, { bytes: randomBytes(1024 * 1024) });
  writeSync(1, 'in the middle\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

if (mode === 'make') {
  archive.close();
  for (let at = 1; at < Number(count); at += 1) openAt(join(path, `${at}.db`)).close();
} else {
  await archive.store(compactionDraft(81), endless());
}
