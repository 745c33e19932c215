import type { Role } from '../../../core/message.ts';
import type { Content } from './content.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * A short name for what a message says: the ids of its calls or results where it has any, else its words without white space. A checkpoint
 * that Gemini CLI writes after a compression gives every message a new id; by this name it is found again.
 */
export function messageKey(role: Role, { parts, calls, results }: Content): string {
  if (calls.length > 0) return `calls:${calls.join('\n')}`;
  if (results.length > 0) return `results:${results.join('\n')}`;
  const words = parts
    .map((part) => ('text' in part ? part.text : ''))
    .join('')
    .replace(/\s+/g, '');
  if (words === '') return '';
  let hash = FNV_OFFSET;
  for (let at = 0; at < words.length; at += 1) hash = Math.imul(hash ^ words.charCodeAt(at), FNV_PRIME);
  return `${role}:${words.length}:${(hash >>> 0).toString(36)}`;
}
