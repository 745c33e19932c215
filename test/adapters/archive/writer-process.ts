import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import type { LineDraft } from '../../../src/ports/archive.ts';
import { applied, compactionDraft, lineDraft, messageDraft, openAt } from './drafts.ts';

/**
 * `store N`: stores N compactions of 150 lines. `hang`: stops for good in the middle of one, after it has told so. `make N`: makes N
 * archives in the folder `path`.
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
} else if (mode === 'hang') {
  await archive.store(compactionDraft(81), endless());
} else {
  for (let at = 0; at < Number(count); at += 1) {
    const lines = Array.from({ length: 150 }, (_, index) =>
      lineDraft(index + 1, { message: messageDraft({ text: `word${index}` }) }),
    );
    await applied(archive, compactionDraft(150), lines);
  }
  archive.close();
}
