import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArchiveExportReport } from '../../../src/app/contract/archive-reports.ts';
import { renderExport } from '../../../src/cli/render/archive.ts';

const EMPTY: ArchiveExportReport = {
  schema: 'compact/archive-export@1',
  archive: 'a.db',
  folder: 'march',
  isComplete: false,
  compactions: 0,
  lines: 0,
  capturedFiles: 0,
};

test('an export says what it has, or that nothing matches', () => {
  assert.equal(renderExport(EMPTY), 'nothing matches, so the export in march is empty');
  assert.equal(
    renderExport({ ...EMPTY, compactions: 1, lines: 2 }),
    'exported what matches to march: 1 compaction, 2 lines, 0 captured files',
  );
  assert.match(renderExport({ ...EMPTY, isComplete: true }), /^exported everything to march: 0 compactions/);
});
