import type { LineParse } from '../../../ports/json.ts';
import { parseJsonLine } from '../jsonl.ts';
import type { ListShape } from './find-list.ts';
import { OPEN_LIST, skipSpace } from './json-bytes.ts';

const QUOTE = 0x22;
const SPACE = 0x20;

/**
 * An element, or a member `"key": value` as an object of its own. What is no JSON may be a whole stretch of the file, with the list's bracket
 * before it.
 */
export function parseElement(bytes: Uint8Array, kind: ListShape['kind']): LineParse {
  if (kind === 'members' && bytes[0] === QUOTE) {
    const member = parseJsonLine(asObject(bytes));
    return member.ok ? member : { ...member, column: Math.max(1, member.column - 1) };
  }
  const element = parseJsonLine(bytes);
  if (element.ok || bytes[skipSpace(bytes, 0)] !== OPEN_LIST) return element;
  const stretch = parseJsonLine(withoutBracket(bytes));
  return stretch.ok ? element : stretch;
}

function asObject(member: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('{'), member, Buffer.from('}')]);
}

/** A blank in its place: columns stay what they are. */
function withoutBracket(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[skipSpace(bytes, 0)] = SPACE;
  return copy;
}
