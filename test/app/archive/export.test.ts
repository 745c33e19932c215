import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { exportArchive, type ExportFilter } from '../../../src/app/archive/export-archive.ts';
import { importArchive } from '../../../src/app/archive/import-archive.ts';
import type { Failure } from '../../../src/app/contract/failure.ts';
import type { ArchiveExportReport, ArchiveMergeReport } from '../../../src/app/contract/archive-reports.ts';
import { renderFailure } from '../../../src/messages/failure.ts';
import type { Result } from '../../../src/core/result.ts';
import type { ExportEncoding } from '../../../src/ports/exchange.ts';
import { capture } from '../../support/captures.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { contentsOf, fileTarget, type MergeTarget, withDeps } from '../../support/merging.ts';
import { erase } from '../../support/retention.ts';
import { benchFor, reportOf, rerun, type Workbench } from '../../support/workbench.ts';

const ALL: ExportFilter = { conversation: null, source: null, since: null, until: null };
const NOT_UTF8 = Buffer.concat([
  Buffer.from('{"role":"user","content":"'),
  Buffer.from([0xff, 0xc3]),
  Buffer.from('"}\n'),
]);

/** Two conversations, one compacted twice, captured files that grew, a hold, a stored answer, and an erased line. */
async function sceneFor(t: TestContext): Promise<Workbench> {
  const bench = benchFor(t);
  const secret = `${chatLine({ role: 'user', content: 'The word is zanzibarquux.' })}\n`;
  bench.write('talk.jsonl', `\u{feff}${secret}${chatTranscript(30)}`);
  bench.write('other.jsonl', chatTranscript(20, 400));
  bench.write('captured.jsonl', chatTranscript(3));
  await capture(bench, 'captured.jsonl');
  appendFileSync(bench.path('captured.jsonl'), NOT_UTF8);
  await capture(bench, 'captured.jsonl');
  bench.write('gone.jsonl', chatTranscript(4, 800));
  await capture(bench, 'gone.jsonl');
  for (const name of ['talk.jsonl', 'other.jsonl']) reportOf(await bench.compact(name));
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(20, 200));
  reportOf(await bench.compact('talk.jsonl'));
  const { retention, summaries } = bench.archive();
  await retention.addHold({ kind: 'source', value: 'kept/**', reason: null, addedAt: new Date(1000) });
  const choice = { conversationId: 'talk', path: '/talk.jsonl', chosenAt: new Date(1000) };
  await bench.archive().choices.add({ kind: 'drop-rule', text: 'Always use tabs.', ...choice });
  await bench.archive().choices.add({ kind: 'pin', text: 'm3', ...choice });
  const selectors = [
    { kind: 'match', text: 'zanzibarquux' },
    { kind: 'source', glob: 'gone.jsonl' },
  ] as const;
  for (const selector of selectors) assert.equal((await erase(bench, selector)).result, 'erased');
  const usage = { input_tokens: 1, output_tokens: 2 };
  const answer = { provider: 'p', model: 'm', text: 'paid', usage, createdAt: new Date(2000) };
  await summaries.keep('ab'.repeat(32), answer);
  return bench;
}

type ExportOptions = { readonly encoding?: ExportEncoding; readonly filter?: Partial<ExportFilter> };

function exportTo(
  place: string,
  folder: string,
  { encoding = 'jsonl', filter = {} }: ExportOptions = {},
): Promise<Result<ArchiveExportReport, Failure>> {
  return withDeps(fileTarget(place), undefined, (deps) =>
    exportArchive(deps, { folder, encoding, filter: { ...ALL, ...filter } }),
  );
}

function importTo(target: MergeTarget, folder: string): Promise<Result<ArchiveMergeReport, Failure>> {
  return withDeps(target, undefined, (deps) => importArchive(deps, { folder, maxLineBytes: null }));
}

for (const encoding of ['jsonl', 'parquet'] as const)
  test(`an export of everything in ${encoding} makes an equal archive, which restores the same bytes`, async (t) => {
    const bench = await sceneFor(t);
    const folder = folderWith(t, {});
    const exported = await exportTo(bench.archivePath, join(folder, 'export'), { encoding });
    assert.ok(exported.ok, JSON.stringify(exported));
    assert.deepEqual(
      [exported.value.isComplete, exported.value.compactions, exported.value.capturedFiles],
      [true, 3, 1],
    );
    const target = fileTarget(join(folder, 'again.db'));
    const imported = await importTo(target, join(folder, 'export'));
    assert.ok(imported.ok, JSON.stringify(imported));
    assert.equal(imported.value.merged[0]?.archive, join(folder, 'export'));
    assert.deepEqual(await contentsOf(target), await contentsOf(fileTarget(bench.archivePath)));
    const archive = await target.open();
    t.after(() => archive.close());
    const [choices, sameChoices] = [archive, bench.archive()].map((one) => one.choices.list());
    assert.deepEqual(await choices, await sameChoices);
    assert.deepEqual(
      (await choices)?.map(({ kind }) => kind),
      ['drop-rule', 'pin'],
    );
    const log = await archive.log.list();
    assert.deepEqual(log.slice(0, -2), await bench.archive().log.list());
    assert.deepEqual(
      log.map(({ action }) => action),
      ['hold', 'erase', 'erase', 'import', 'import'],
    );
    const moved = rerun(t, bench, {
      archivePath: target.place,
      openArchive: async () => ({ ok: true, value: archive }),
    });
    assert.deepEqual(await moved.restore('other.jsonl'), await bench.restore('other.jsonl'));
    assert.equal((await moved.verify('other.jsonl')).result, 'verified');
    for (const name of readdirSync(join(folder, 'export')))
      assert.equal(statSync(join(folder, 'export', name)).mode & 0o777, 0o600, name);
  });

test('filters choose compactions, with the earlier ones that they continue, and captured files', async (t) => {
  const bench = await sceneFor(t);
  const folder = folderWith(t, {});
  const cases: readonly (readonly [Partial<ExportFilter>, readonly [number, number]])[] = [
    [{ source: 'other.jsonl' }, [1, 0]],
    [{ source: 'talk.jsonl' }, [2, 0]],
    [{ source: 'captured.jsonl' }, [0, 1]],
    [{ until: new Date(0) }, [0, 0]],
    [{ since: new Date(0) }, [3, 1]],
    [{ conversation: 'unknown' }, [0, 0]],
  ];
  for (const [at, [filter, expected]] of cases.entries()) {
    const path = join(folder, `export-${at}`);
    const encoding = at % 2 === 0 ? 'jsonl' : 'parquet';
    const exported = await exportTo(bench.archivePath, path, { encoding, filter });
    assert.ok(exported.ok, JSON.stringify(exported));
    const { compactions, capturedFiles, isComplete } = exported.value;
    assert.deepEqual([[compactions, capturedFiles], isComplete], [expected, false]);
    const imported = await importTo(fileTarget(join(folder, `${at}.db`)), path);
    assert.ok(imported.ok, JSON.stringify(imported));
  }
});

test('a folder that was changed or cut off is refused with its file and line, and nothing is stored', async (t) => {
  const bench = await sceneFor(t);
  const folder = folderWith(t, {});
  const whole = join(folder, 'whole');
  assert.ok((await exportTo(bench.archivePath, whole)).ok);
  const lines = readFileSync(join(whole, 'lines.jsonl'), 'utf8');
  const second = lines.indexOf('\n') + 1;
  const cases: readonly (readonly [name: string, damage: (path: string) => void, sentence: RegExp])[] = [
    ['no manifest', (path) => rmSync(join(path, 'manifest.json')), /manifest\.json: it does not exist/],
    [
      'a newer export',
      (path) => writeFileSync(join(path, 'manifest.json'), '{"format":"compact-export","version":2}'),
      /manifest\.json: it is not the manifest .+\. If a newer version made the export, update compact\./,
    ],
    [
      'an unreadable manifest',
      (path) => {
        rmSync(join(path, 'manifest.json'));
        mkdirSync(join(path, 'manifest.json'));
      },
      /manifest\.json: it is a folder, and no export has one\. Copy the whole export again/,
    ],
    ['no lines', (path) => rmSync(join(path, 'lines.jsonl')), /lines\.jsonl: the file is missing/],
    [
      'cut',
      (path) => writeFileSync(join(path, 'lines.jsonl'), lines.slice(0, second + 9)),
      /lines\.jsonl:2: the file was cut off in this line/,
    ],
    [
      'short',
      (path) => writeFileSync(join(path, 'lines.jsonl'), lines.slice(0, second)),
      /lines\.jsonl:2: the file was cut off: it had \d+ lines/,
    ],
    [
      'long',
      (path) => appendFileSync(join(path, 'lines.jsonl'), lines.slice(0, second)),
      /lines\.jsonl:\d+: the file has more lines than were exported/,
    ],
    [
      'no JSON',
      (path) => writeFileSync(join(path, 'lines.jsonl'), `${lines.slice(0, second)}?${lines.slice(second)}`),
      /lines\.jsonl:2: it is not valid JSON/,
    ],
    [
      'other text',
      (path) => writeFileSync(join(path, 'lines.jsonl'), lines.replace(/"text":"[^"]/, '"text":"X')),
      /lines\.jsonl:\d+: its bytes differ from its hash/,
    ],
    [
      'other role',
      (path) => writeFileSync(join(path, 'lines.jsonl'), lines.replace('"role":"user"', '"role":"tool"')),
      /lines\.jsonl: the file was changed after it was exported/,
    ],
    [
      'a sparse file of 20 GB',
      (path) => truncateSync(join(path, 'lines.jsonl'), 20e9),
      /lines\.jsonl:\d+: this line is longer than 64 MiB\. If you trust this export, allow more with --max-line SIZE\./,
    ],
    [
      'a sparse manifest',
      (path) => truncateSync(join(path, 'manifest.json'), 20e9),
      /manifest\.json: it is larger than 64 MiB/,
    ],
    [
      'a link in it',
      (path) => {
        rmSync(join(path, 'lines.jsonl'));
        symlinkSync(join(whole, 'lines.jsonl'), join(path, 'lines.jsonl'));
      },
      /lines\.jsonl: it is a link, and no export has one/,
    ],
    [
      'a pipe in it',
      (path) => {
        rmSync(join(path, 'lines.jsonl'));
        execFileSync('mkfifo', [join(path, 'lines.jsonl')]);
      },
      /lines\.jsonl: it is a pipe, and no export has one/,
    ],
    [
      'other field',
      (path) => writeFileSync(join(path, 'lines.jsonl'), lines.replace('"sizeBytes":', '"size":')),
      /lines\.jsonl:1: .*is not as it was exported/,
    ],
  ];
  for (const [name, damage, sentence] of cases) {
    const path = join(folder, name);
    cpSync(whole, path, { recursive: true });
    damage(path);
    const target = join(folder, `${name}.db`);
    const refused = await importTo(fileTarget(target), path);
    assert.ok(!refused.ok, name);
    assert.match(renderFailure(refused.error), sentence);
    assert.equal(readdirSync(folder).includes(`${name}.db`), false, name);
  }
});

test('a Parquet file that was changed, cut off or exchanged is refused with its rows, and nothing is stored', async (t) => {
  const bench = await sceneFor(t);
  const folder = folderWith(t, {});
  const whole = join(folder, 'whole');
  assert.ok((await exportTo(bench.archivePath, whole, { encoding: 'parquet' })).ok);
  const read = (name: string): Buffer => readFileSync(join(whole, name));
  const lines = read('lines.parquet');
  const changed = Buffer.from(lines);
  changed[100] = (changed[100] ?? 0) ^ 1;
  const ended = Buffer.from(lines);
  ended[ended.length - 20] = (ended[ended.length - 20] ?? 0) ^ 1;
  const manifest = read('manifest.json').toString();
  /** Another table with a manifest to match. */
  const swapped = manifest.replace(/"name": "(lines|holds)\.parquet"/g, (_, name: string) =>
    name === 'lines' ? '"name": "holds.parquet"' : '"name": "lines.parquet"',
  );
  const cases: readonly (readonly [name: string, files: Readonly<Record<string, Uint8Array | string>>, RegExp])[] = [
    [
      'changed',
      { 'lines.parquet': changed },
      /lines\.parquet: rows 1 to \d+ were changed after the export was made\. Copy/,
    ],
    ['footer', { 'lines.parquet': ended }, /lines\.parquet: the end of the file was changed after the export/],
    ['cut', { 'lines.parquet': lines.subarray(0, -9) }, /lines\.parquet: the file has \d+ bytes, and had \d+ when/],
    ['empty', { 'summaries.parquet': '' }, /summaries\.parquet: the file has 0 bytes/],
    [
      'a group of rows that is too large',
      { 'manifest.json': manifest.replace(/("sizeBytes": )\d+/, (_, name: string) => `${name}20000000000`) },
      /\.parquet: it is larger than 64 MiB\. If you trust this export/,
    ],
    [
      'exchanged',
      { 'manifest.json': swapped, 'lines.parquet': read('holds.parquet'), 'holds.parquet': lines },
      /holds\.parquet: its columns are not those of an export/,
    ],
    [
      'no Parquet',
      {
        'holds.parquet': 'PAR1PAR1PAR1PAR1',
        'manifest.json': manifest.replace(
          /("name": "holds\.parquet".*?"sections": )\[.*?\]/s,
          `$1[{ "records": 0, "sizeBytes": 16, "sha256": "${hash('sha256', 'PAR1PAR1PAR1PAR1')}" }]`,
        ),
      },
      /holds\.parquet: it cannot be read as Parquet \(/,
    ],
  ];
  for (const [name, files, sentence] of cases) {
    const path = join(folder, name);
    cpSync(whole, path, { recursive: true });
    for (const [file, bytes] of Object.entries(files)) writeFileSync(join(path, file), bytes);
    const refused = await importTo(fileTarget(join(folder, `${name}.db`)), path);
    assert.ok(!refused.ok, name);
    assert.match(renderFailure(refused.error), sentence);
    assert.equal(readdirSync(folder).includes(`${name}.db`), false, name);
  }
});

test('an export goes only into a new or an empty folder, never through a link', async (t) => {
  const bench = await sceneFor(t);
  const folder = folderWith(t, { 'full/note.txt': 'mine', 'empty/': '', 'file.txt': 'mine' });
  symlinkSync(join(folder, 'empty'), join(folder, 'link'));
  const cases: readonly (readonly [string, RegExp])[] = [
    ['full', /full: it is not empty\. Name a new or an empty folder\.$/],
    ['link', /link: it is a symbolic link\. Name the folder itself\.$/],
    ['file.txt', /file\.txt: it is not a folder\. Name a new or an empty folder\.$/],
    ['file.txt/new', /new: it cannot be created \(ENOTDIR\)\. Check its permissions and its disk, or name another/],
  ];
  for (const [name, sentence] of cases) {
    const refused = await exportTo(bench.archivePath, join(folder, name));
    assert.ok(!refused.ok, name);
    assert.match(renderFailure(refused.error), sentence);
  }
  assert.deepEqual([readdirSync(join(folder, 'full')), readdirSync(join(folder, 'empty'))], [['note.txt'], []]);
  assert.ok((await exportTo(bench.archivePath, join(folder, 'empty'))).ok);
});
