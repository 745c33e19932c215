import type { Json } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';

/** The folder that the session was begun in: the first event that tells of its context has it. */
export function readProject(sample: readonly Json[]): string | null {
  for (const record of sample) {
    const data = isRecord(record) ? record['data'] : undefined;
    const context = isRecord(data) ? data['context'] : undefined;
    const folder = isRecord(context) ? stringAt(context, 'cwd') : undefined;
    if (folder !== undefined) return folder;
  }
  return null;
}
