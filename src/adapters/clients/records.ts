import { join } from 'node:path';
import { z } from 'zod';
import type { ClientFiles, ClientName, InstallRecords } from '../../ports/clients.ts';
import { parseJson } from '../../core/json-text.ts';

const recordsSchema = z.array(
  z.strictObject({
    path: z.string(),
    existed: z.boolean(),
    sha256: z.strictObject({ before: z.string(), after: z.string() }),
    splice: z.strictObject({ at: z.int().min(0), inserted: z.int().min(0), removed: z.string() }),
  }),
);

/** Keeps a file for each client in a folder of this program. */
export function createInstallRecords(folder: string, files: ClientFiles): InstallRecords {
  const pathOf = (client: ClientName): string => join(folder, `${client}.json`);
  return {
    load: (client) => {
      const read = files.read(pathOf(client));
      if (!read.ok || read.value === null) return [];
      const parsed = recordsSchema.safeParse(parseJson(read.value));
      return parsed.success ? parsed.data : [];
    },
    save: async (client, records) => {
      const path = pathOf(client);
      if (records.length === 0) return files.remove(path);
      const read = files.read(path);
      const expected = read.ok ? read.value : null;
      const saved = await files.replace(path, { expected, text: `${JSON.stringify(records)}\n` });
      if (saved.ok) return saved;
      return { ok: false, error: saved.error === 'file-changed' ? { kind: 'held', path } : saved.error };
    },
  };
}
