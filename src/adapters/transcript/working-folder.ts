import type { Json } from '../../ports/codec.ts';
import { isRecord, stringAt } from './json.ts';

/** The `cwd` of the first record that has one: records beside the chain, with which files begin, have none. */
export function readWorkingFolder(sample: readonly Json[]): string | null {
  for (const record of sample) {
    const folder = isRecord(record) ? stringAt(record, 'cwd') : undefined;
    if (folder !== undefined) return folder;
  }
  return null;
}
