import { createHash } from 'node:crypto';
import { err, ok, type Result } from '../../core/result.ts';

/** One of several equal parts of the inputs: `index` is from 1 to `count`. */
export type Shard = { readonly index: number; readonly count: number };

/** '2/4', as it is written on the command line. */
export function parseShard(text: string): Result<string, string> {
  const { index, count } = readShard(text);
  if (Number.isSafeInteger(count) && index >= 1 && index <= count) return ok(text);
  const hint = index === 0 ? ' Shards count from 1.' : '';
  return err(`It must be I/N, with I from 1 to N: --shard 2/4 is the second of four parts.${hint}`);
}

export function readShard(text: string): Shard {
  const [, index = '', count = ''] = /^(\d+)\/(\d+)$/.exec(text.trim()) ?? [];
  return { index: index === '' ? Number.NaN : Number(index), count: Number(count) };
}

const HASH_BYTES = 6; // the largest whole number that fits a double

/** Whether a file belongs to a shard. The path alone decides, so other files change nothing. */
export function isInShard(path: string, { index, count }: Shard): boolean {
  // Systems differ in separators and in how they store accents.
  const name = path.replaceAll('\\', '/').normalize('NFC');
  const hash = createHash('sha256').update(name).digest().readUIntBE(0, HASH_BYTES);
  return hash % count === index - 1;
}
