import type { Json } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';

/** The `cwd` of the first header or turn that has one. */
export function readWorkingFolder(sample: readonly Json[]): string | null {
  for (const record of sample) {
    const payload = isRecord(record) ? record['payload'] : undefined;
    const folder = isRecord(payload) ? stringAt(payload, 'cwd') : undefined;
    if (folder !== undefined) return folder;
  }
  return null;
}
