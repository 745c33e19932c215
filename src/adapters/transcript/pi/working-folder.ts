import type { Json } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';

/** The `cwd` of a session's header; null: it has none. */
export function readWorkingFolder(sample: readonly Json[]): string | null {
  const header = sample.filter(isRecord).find((record) => record['type'] === 'session');
  return header === undefined ? null : (stringAt(header, 'cwd') ?? null);
}
