import type { Json } from '../../ports/codec.ts';
import { isRecord, stringAt } from './json.ts';

/** Finds the `cwd` of the first record that has one, under `keys` in it: records with which files begin may have none. */
export function findWorkingFolder(...keys: readonly string[]): (sample: readonly Json[]) => string | null {
  return (sample) => {
    for (const record of sample) {
      const holder = keys.reduce<Json | undefined>((value, key) => (isRecord(value) ? value[key] : undefined), record);
      const folder = isRecord(holder) ? stringAt(holder, 'cwd') : undefined;
      if (folder !== undefined) return folder;
    }
    return null;
  };
}
