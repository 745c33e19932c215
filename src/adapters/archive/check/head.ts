import { hash } from 'node:crypto';
import { readHash, readInteger, readText, type Row } from '../rows.ts';
import { finding, type Finding, type Place } from './finding.ts';

/** What a compaction says of itself, as far as the check needs it. */
export type Head = {
  readonly id: number;
  readonly place: Place;
  readonly isPrepared: boolean;
  readonly source: {
    readonly sha256: string;
    readonly sizeBytes: number;
    readonly lineCount: number;
    readonly hasBom: boolean;
  };
  readonly output: { readonly sha256: string; readonly sizeBytes: number };
};

export function placeOf(compactionId: number): Place {
  return { name: `compaction ${compactionId}`, compactionIds: [compactionId] };
}

export function readHead(row: Row): Head {
  const id = readInteger(row, 'id');
  return {
    id,
    place: placeOf(id),
    isPrepared: readText(row, 'status') === 'prepared',
    source: {
      sha256: readHash(row, 'source_sha256'),
      sizeBytes: readInteger(row, 'source_size_bytes'),
      lineCount: readInteger(row, 'source_line_count'),
      hasBom: readInteger(row, 'source_has_bom') === 1,
    },
    output: { sha256: readHash(row, 'output_sha256'), sizeBytes: readInteger(row, 'output_size_bytes') },
  };
}

export function* checkSettings(row: Row, { place }: Head): Generator<Finding> {
  if (hash('sha256', readText(row, 'settings')) !== readHash(row, 'settings_sha256'))
    yield finding('wrong-hash', place, 'its settings differ from their hash');
}
