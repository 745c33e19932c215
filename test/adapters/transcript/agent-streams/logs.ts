import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import assert from 'node:assert/strict';
import type { Codec, Json } from '../../../../src/ports/codec.ts';
import type { Decoded } from '../../../../src/core/transcript.ts';
import { benchFor, type BenchSettings, type Workbench } from '../../../support/workbench.ts';

export const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts');

export type Fields = { readonly [key: string]: Json };

/** The string under a key; '' for anything else. */
export function textAt(record: Fields, key: string): string {
  const value = record[key];
  return typeof value === 'string' ? value : '';
}

/** The records of a log; lines that are not JSON are left out. */
export function parseLog(text: string): readonly Fields[] {
  return text
    .replace('\uFEFF', '')
    .split('\n')
    .flatMap((line): readonly Fields[] => {
      try {
        return line.trim() === '' ? [] : [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}

export function readFixture(format: string, name: string): readonly Fields[] {
  return parseLog(readFileSync(join(FIXTURES, format, name), 'utf8'));
}

export function fixtureNames(format: string): readonly string[] {
  return readdirSync(join(FIXTURES, format));
}

/** What a codec reads in the records of a log. */
export function decodeAll(codec: Codec, records: readonly Json[]): readonly Decoded[] {
  const session = codec.open();
  return records.map((record, index) => {
    const decoded = session.observe(record, index + 1);
    assert.ok(!('problem' in decoded), JSON.stringify(decoded));
    assert.deepEqual(session.decode(record, index + 1), decoded);
    return decoded;
  });
}

export const NAME = 'log.jsonl';

export function benchWith(t: TestContext, content: string | Uint8Array): Workbench {
  const bench = benchFor(t);
  bench.write(NAME, content);
  return bench;
}

/** Compacts the log, and returns its records. */
export async function compactLog(bench: Workbench, keepRecent: number): Promise<readonly Fields[]> {
  const settings: BenchSettings = {
    keepInvalid: true,
    compaction: { keepRecent, keepRecentTokens: 0, maxSummaryTokens: 150, rulesFromChats: true },
  };
  const done = await bench.compact(NAME, settings);
  assert.ok(done.ok, JSON.stringify(done));
  assert.equal(done.value.result, 'compacted');
  assert.deepEqual((await bench.verify(NAME)).problems, []);
  return parseLog(bench.read(NAME).toString('utf8'));
}
