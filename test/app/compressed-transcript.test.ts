import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, reportOf, rerun, type Workbench } from '../support/workbench.ts';

const original = chatTranscript(24);
const MORE = chatTranscript(12, 500);
const PACKINGS = [
  { ending: 'gz', pack: gzipSync, unpack: gunzipSync },
  { ending: 'zst', pack: zstdCompressSync, unpack: zstdDecompressSync },
] as const;

/** What a run over the same transcript gives where nothing is packed. */
async function plainResult(bench: Workbench): Promise<Buffer> {
  bench.write('plain.jsonl', original);
  reportOf(await bench.compact('plain.jsonl'));
  return bench.read('plain.jsonl');
}

for (const { ending, pack, unpack } of PACKINGS) {
  const name = `talk.jsonl.${ending}`;
  suite(`a transcript that is packed (${ending})`, () => {
    test('is compacted in place as what it holds, proven, and given back', async (t) => {
      const bench = benchFor(t);
      const plain = await plainResult(benchFor(t));
      bench.write(name, pack(original));
      const report = reportOf(await bench.compact(name));
      assert.ok(unpack(bench.read(name)).equals(plain));
      assert.deepEqual(
        [report.sha256.before, report.sha256.after, report.bytes],
        [
          bench.deps.runtime.sha256(original),
          bench.deps.runtime.sha256(plain),
          { before: Buffer.byteLength(original), after: plain.length },
        ],
      );
      assert.deepEqual((await bench.verify(name)).problems, []);
      assert.equal((await bench.restore(name)).toString(), original);
    });

    test('and is compacted again when its producer has gone on', async (t) => {
      const bench = benchWith(t, name, pack(original));
      reportOf(await bench.compact(name));
      const grown = Buffer.concat([unpack(bench.read(name)), Buffer.from(MORE)]);
      bench.write(name, pack(grown));
      const report = reportOf(await bench.compact(name));
      assert.deepEqual(
        report.conversations.map(({ cycles }) => cycles),
        [2],
      );
      assert.deepEqual((await bench.verify(name)).problems, []);
      assert.equal((await bench.restore(name)).toString(), original + MORE);
    });

    test('as is one to which parts were appended, and nothing new is nothing to do', async (t) => {
      const bench = benchWith(t, name, pack(original));
      reportOf(await bench.compact(name));
      assert.equal(reportOf(await bench.compact(name)).reason, 'nothing-new');
      bench.write(name, Buffer.concat([bench.read(name), pack(MORE)]));
      assert.equal((await bench.verify(name)).lines.appended, MORE.split('\n').length - 1);
      assert.equal((await bench.restore(name)).toString(), original + MORE);
    });

    test('is restored in place with the same compression, and to a file with that of its name', async (t) => {
      const bench = benchWith(t, name, pack(original));
      reportOf(await bench.compact(name));
      const input = { path: bench.path(name), name, format: null };
      for (const other of PACKINGS) {
        const path = bench.path(`restored.${other.ending}`);
        assert.ok((await restoreFile(bench.deps, { input, output: { kind: 'file', path }, all: true })).ok);
        assert.equal(other.unpack(bench.read(`restored.${other.ending}`)).toString(), original);
      }
      assert.ok((await restoreFile(bench.deps, { input, output: { kind: 'in-place' }, all: true })).ok);
      assert.equal(unpack(bench.read(name)).toString(), original);
    });

    test('that nothing is done to is copied byte for byte, or packed as the name of its copy says', async (t) => {
      const bench = benchFor(t);
      const packed = pack(original);
      bench.write(name, packed);
      const left = (output: string): Promise<unknown> =>
        bench.compact(name, { ifOverTokens: 1_000_000, output: { kind: 'file', path: bench.path(output) } });
      await left(`copy.${ending}`);
      assert.ok(bench.read(`copy.${ending}`).equals(packed));
      await left('copy.jsonl');
      assert.equal(bench.read('copy.jsonl').toString(), original);
      reportOf(await bench.compact(name, { ifOverTokens: 1_000_000, output: { kind: 'stdout' } }));
      assert.equal(bench.stdout().toString(), original);
    });

    test('that is compressed again while it is read is read again', async (t) => {
      const setup = benchFor(t);
      setup.write(name, pack(original));
      const state = { isDone: false };
      const bench = rerun(t, setup, {
        reached: (step) => {
          if (step !== 'synced' || state.isDone) return;
          state.isDone = true;
          setup.write(name, Buffer.concat([pack(original), pack(MORE)]));
        },
      });
      const report = reportOf(await bench.compact(name));
      assert.equal(report.sha256.before, setup.deps.runtime.sha256(original + MORE));
      assert.equal((await bench.restore(name)).toString(), original + MORE);
    });

    test('that is half there because it is being written is read again, and then refused', async (t) => {
      const setup = benchFor(t);
      const packed = pack(original);
      setup.write(name, packed.subarray(0, -9));
      const { files } = setup.deps;
      const state = { opened: 0 };
      const bench = rerun(t, setup, {
        files: {
          ...files,
          open: async (path, options) => {
            const opened = await files.open(path, options);
            if (path.endsWith(name)) state.opened += 1;
            if (state.opened === 1) writeFileSync(path, packed);
            return opened;
          },
        },
      });
      assert.equal(reportOf(await bench.compact(name)).result, 'compacted');
      setup.write(name, packed.subarray(0, -9));
      const refused = await setup.compact(name);
      assert.deepEqual(
        [!refused.ok && refused.error.kind === 'file' && refused.error.failure.kind, setup.read(name)],
        ['damaged', packed.subarray(0, -9)],
      );
    });

    test('is not written over where it would be lost', async (t) => {
      const bench = benchWith(t, 'talk.jsonl', original);
      const output = `out.jsonl.${ending}`;
      const compact = () => bench.compact('talk.jsonl', { output: { kind: 'file', path: bench.path(output) } });
      const kept = pack('{"role":"user","content":"mine"}\n');
      for (const precious of [kept, kept.subarray(0, -4)]) {
        bench.write(output, precious);
        const result = await compact();
        assert.deepEqual([!result.ok && result.error.kind, bench.read(output)], ['output-exists', precious]);
      }
      bench.write(output, pack(''));
      const first = reportOf(await compact());
      const written = bench.read(output);
      assert.deepEqual([reportOf(await compact()).output, bench.read(output)], [first.output, written]);
    });
  });
}
