import { writeSync } from 'node:fs';
import { argv } from 'node:process';
import { openSqliteArchive } from '../../src/adapters/archive/sqlite/open.ts';

// Takes messages into the search index of an archive, and stops for good in the middle of a slice, after it has told so.
const opened = openSqliteArchive({ path: argv[2] ?? '' });
if (!opened.ok) throw new Error(JSON.stringify(opened.error));
const { index } = opened.value;
const slice = await index.read({ kind: 'archived', before: null }, 1);
if (slice === null) throw new Error('everything is indexed');
await index.add(
  slice,
  slice.lines.map(({ lineId }, at) => ({
    lineId,
    get text(): string {
      if (at < slice.lines.length - 1) return 'zebra';
      writeSync(1, 'in the middle\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return '';
    },
    captured: null,
  })),
);
