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
  const isMember = kind === 'members' && bytes[0] === QUOTE;
  const parsed = parseJsonLine(isMember ? asObject(bytes) : bytes);
  if (parsed.ok) return parsed;
  return isMember ? { ...parsed, column: Math.max(1, parsed.column - 1) } : parseJsonLine(withoutBracket(bytes));
}

function asObject(member: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('{'), member, Buffer.from('}')]);
}

/** A blank in its place: columns stay what they are. */
function withoutBracket(bytes: Uint8Array): Uint8Array {
  const at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_LIST) return bytes;
  const copy = Uint8Array.from(bytes);
  copy[at] = SPACE;
  return copy;
}
