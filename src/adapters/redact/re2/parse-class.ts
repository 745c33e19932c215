import { foldedSet, negated, POSIX_CLASSES, rangeSet, unionOf } from './char-set.ts';
import type { CharSet } from './char-set.ts';
import type { Reader } from './reader.ts';

const POSIX = /\[:(\^?)([a-z]{1,10}):\]/y;

/** Reads `[…]`. */
export function classAt(reader: Reader, ignoresCase: boolean): CharSet {
  reader.take('[');
  const isNegated = reader.take('^');
  const sets: CharSet[] = [];
  const ranges: [number, number][] = [];
  for (let isFirst = true; isFirst || !reader.sees(']'); isFirst = false) {
    if (reader.isAtEnd()) {
      reader.fail('opens a class that it does not close');
      break;
    }
    const set = namedSet(reader) ?? reader.escapedClass();
    if (set !== null) sets.push(set);
    else if (!reader.isAtEnd()) ranges.push(readRange(reader));
  }
  reader.take(']');
  const plain = unionOf([...sets, rangeSet(ranges)]);
  const set = ignoresCase ? foldedSet(plain) : plain;
  return isNegated ? negated(set) : set;
}

function namedSet(reader: Reader): CharSet | null {
  const match = reader.match(POSIX);
  if (match === null) return null;
  reader.skip(match[0].length);
  const set = POSIX_CLASSES.get(match[2] ?? '');
  if (set === undefined) {
    reader.fail(`names the class \`${match[0]}\`, which is unknown`);
    return null;
  }
  return match[1] === '^' ? negated(set) : set;
}

/** A hyphen that nothing follows but the end of the class is one. */
function readRange(reader: Reader): [number, number] {
  const first = reader.character();
  if (!reader.sees('-') || reader.sees('-]')) return [first, first];
  reader.take('-');
  const last = reader.character();
  if (last < first) reader.fail('has a range that runs backwards');
  return [first, last];
}
