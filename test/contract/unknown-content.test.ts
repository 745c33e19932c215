import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileStore } from '../../src/adapters/fs/file-store.ts';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import { isList, isRecord } from '../../src/adapters/transcript/json.ts';
import { CODECS } from '../support/codecs.ts';
import { parseRecord, readRecords, trimRecord } from '../../src/app/read/records.ts';
import type { Codec, Json } from '../../src/ports/codec.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
/** The fixtures of the others are not JSON. */
const COMPACTED = CODECS.filter(({ format }) => format.whyReadOnly === undefined);

const files = createFileStore({ removeAtExit: () => () => undefined });

type Said = { readonly value: Json; readonly line: number; readonly around?: Json };

/** The records of a fixture, those around lists too. */
async function recordsOf(codec: Codec, path: string): Promise<readonly Said[]> {
  const opened = await files.open(path);
  assert.ok(opened.ok);
  const source = opened.value;
  const said: Said[] = [];
  for (const raw of readRecords(source, codec)) {
    const { line, around } = raw;
    const parsed = parseRecord(formatRegistry, codec, trimRecord(codec, raw.bytes));
    if (around !== undefined && around !== null) said.push({ value: null, line, around });
    else if (around === undefined && parsed.ok) said.push({ value: parsed.value, line });
  }
  source.close();
  return said;
}

/** Whatever says something in words says it in a shape of tomorrow. */
function ofTomorrow(value: Json): Json {
  if (isList(value))
    return value.map((item) => (typeof item === 'string' ? { type: 'novel', words: item } : ofTomorrow(item)));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    if (key === 'text' && typeof inner === 'string') return ['words', inner];
    if (SPEAKING_KEYS.has(key) && typeof inner === 'string') return [key, [{ type: 'novel', words: inner }]];
    return [key, ofTomorrow(inner)];
  });
  const hasText = typeof value['text'] === 'string';
  return Object.fromEntries(entries.map(([key, inner]) => (hasText && key === 'type' ? [key, 'novel'] : [key, inner])));
}

const SPEAKING_KEYS = new Set(['content', 'value', 'output', 'summary', 'prompt', 'result']);

type Reading = { readonly kind: string; readonly content: string } | { readonly problem: string };

/** What a file says, record after record. */
function readAll(codec: Codec, records: readonly Said[]): readonly Reading[] {
  const session = codec.open();
  return records.map(({ value, line, around }): Reading => {
    if (around !== undefined) {
      session.openList?.(around, line);
      return { kind: 'around', content: '' };
    }
    const decoded = session.observe(value, line);
    return 'problem' in decoded ? decoded : { kind: decoded.kind, content: decoded.message?.content ?? '' };
  });
}

for (const codec of COMPACTED) {
  const { name } = codec.format;
  test(`${name}: what is said in a shape that is not known is read, carried or an error, and never silence`, async () => {
    let asked = 0;
    for (const fixture of readdirSync(join(FIXTURES, name)).filter((one) => /\.jsonl?$/.test(one))) {
      const records = await recordsOf(codec, join(FIXTURES, name, fixture));
      const changed = records.map((record) => ({ ...record, value: ofTomorrow(record.value) }));
      const before = readAll(codec, records);
      for (const [at, reading] of readAll(codec, changed).entries()) {
        const was = before[at];
        if (was === undefined || 'problem' in was || was.kind !== 'message' || was.content.trim() === '') continue;
        if (JSON.stringify(changed[at]?.value) === JSON.stringify(records[at]?.value)) continue;
        asked += 1;
        const isSilent = 'kind' in reading && reading.kind === 'message' && reading.content.trim() === '';
        assert.equal(isSilent, false, `${fixture}: ${JSON.stringify(changed[at]?.value).slice(0, 400)}`);
      }
    }
    assert.ok(asked > 0, 'no message was changed');
  });
}

/** Deeper than any writer of JSON goes. */
const DEEP: Json = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);

function nested(value: Json): Json {
  if (isList(value)) return value.map(nested);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] =>
    key === 'text' || SPEAKING_KEYS.has(key) || key === 'parts'
      ? [key, [{ type: 'novel', words: DEEP }]]
      : [key, nested(inner)],
  );
  return Object.fromEntries(entries);
}

const NAMING_KEYS = new Set(['type', 'kind', 'role', 'from', 'event', 'subtype', 'source', 'name']);

/** The keys of a record and the kinds of its parts, without what they say. */
function shapeOf(value: Json): string {
  return JSON.stringify(value, (key, inner: Json) =>
    typeof inner === 'number' || (typeof inner === 'string' && !NAMING_KEYS.has(key)) ? 0 : inner,
  );
}

for (const codec of COMPACTED) {
  const { name } = codec.format;
  test(`${name}: content that is nested too deeply to be written is never an exception`, async () => {
    const known = new Set<string>();
    for (const fixture of readdirSync(join(FIXTURES, name)).filter((one) => /\.jsonl?$/.test(one))) {
      const records = await recordsOf(codec, join(FIXTURES, name, fixture));
      // One record of each shape: to go as deep as the stack allows takes milliseconds.
      const isNew = ({ value }: Said): boolean => known.size < known.add(shapeOf(value)).size;
      readAll(
        codec,
        records.map((record) => (isNew(record) ? { ...record, value: nested(record.value) } : record)),
      );
    }
    assert.ok(known.size > 1, 'several shapes were tried');
  });
}
