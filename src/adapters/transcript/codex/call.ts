import type { Json } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** A call that an item makes. `arguments` is text as it stands there, or JSON. */
type Call = { readonly id?: string; readonly name: string; readonly arguments: string };

/** Where the arguments of the kinds of calls stand; a kind that is not named here has `arguments`, `input` or `action`. */
const ARGUMENT_KEYS = ['arguments', 'input', 'action'];

/**
 * The call of an item whose type ends in `_call`: a function's, a custom tool's, a local shell's, a search's. Those that the server runs
 * itself (a web search, a picture) have no output of their own and are known by the item's id.
 * @throws RangeError where its arguments are nested too deeply to be written as JSON.
 */
export function readCall(item: JsonRecord, type: string): Call {
  const id = stringAt(item, 'call_id') ?? stringAt(item, 'id');
  const name = stringAt(item, 'name') ?? type.slice(0, -'_call'.length);
  const namespace = stringAt(item, 'namespace');
  return {
    ...(id !== undefined && { id }),
    name: namespace === undefined ? name : `${namespace}.${name}`,
    arguments: argumentText(item, type),
  };
}

function argumentText(item: JsonRecord, type: string): string {
  if (type === 'image_generation_call') return JSON.stringify({ prompt: item['revised_prompt'] ?? null });
  const given = ARGUMENT_KEYS.map((key) => item[key]).find((value) => value !== undefined && value !== null);
  if (given === undefined) return '{}';
  return typeof given === 'string' ? given : JSON.stringify(given);
}

/** The names of the tools that a search has found. */
export function toolNames(tools: readonly Json[]): string {
  return tools.flatMap((tool) => (isRecord(tool) ? (stringAt(tool, 'name') ?? []) : [])).join('\n');
}
