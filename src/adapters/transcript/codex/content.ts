import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import { readPartText } from '../part-text.ts';

/** The texts of a message's content, one a part; images, audio and encrypted parts have none. */
export function textsOf(content: Json | undefined): readonly string[] {
  return (isList(content) ? content : [content]).map(readPartText).filter((text) => text !== '');
}

/**
 * The text of a tool's output: a string, content parts, or `{content}`. Older versions wrote `{"output": …, "metadata": …}` as a JSON
 * string: there it is what stands under `output`.
 */
export function outputText(output: Json | undefined): string {
  if (typeof output === 'string') return unwrapShellOutput(output);
  if (isList(output)) return textsOf(output).join('\n');
  if (!isRecord(output)) return readPartText(output);
  const inner = output['content'] ?? output['output'];
  return inner === undefined ? JSON.stringify(output) : outputText(inner);
}

function unwrapShellOutput(text: string): string {
  if (!text.startsWith('{"output":')) return text;
  try {
    const value: Json = JSON.parse(text);
    if (!isRecord(value) || !isRecord(value['metadata'])) return text;
    return stringAt(value, 'output') ?? text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
