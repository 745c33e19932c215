import { ok, type Result } from '../../core/result.ts';
import type { Json } from '../../ports/codec.ts';
import type { FileWriter } from '../../ports/files.ts';
import type { Programs, SessionPlace } from '../../ports/clients.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { openTranscript } from '../read/open-transcript.ts';
import { parseRecord, readRecords, trimRecord } from '../read/records.ts';

export type LocatedSession = {
  readonly format: string;
  readonly place: SessionPlace | null;
  /** The program that has it open; null: none is to be seen, or nobody looked. */
  readonly user: FileWriter | null;
};

/** So many records at the beginning of a file may name the folder that was worked in. */
const SAMPLE_RECORDS = 50;

/** Whose session a file is, and in which folder it was held, from its first records. `findsUser`: look for a program that has it open. */
export async function locateSession(
  deps: AppDeps & { readonly programs: Programs },
  { input, findsUser }: { input: TranscriptInput; findsUser: boolean },
): Promise<Result<LocatedSession, Failure>> {
  return attempt({ file: input.name }, async () => {
    const { source, codec } = await openTranscript(input, deps);
    try {
      const sample: Json[] = [];
      for (const { bytes, around } of readRecords(source, codec)) {
        const parsed = around === undefined ? parseRecord(deps.formats, codec, trimRecord(codec, bytes)) : null;
        if (around !== undefined) sample.push(around);
        else if (parsed?.ok === true) sample.push(parsed.value);
        if (sample.length >= SAMPLE_RECORDS) break;
      }
      const { name } = codec.format;
      const folder = sample.map((record) => codec.readProject?.(record) ?? null).find((one) => one !== null) ?? null;
      const path = deps.files.absolute(input.path);
      const user = findsUser
        ? ((await deps.files.findSessionUser(path, codec.format.openSigns ?? [])) ??
          (await deps.files.findWriter(source.stamp)))
        : null;
      return ok({
        format: name,
        user: user === 'unknown' ? null : user,
        place: deps.programs.locate({ format: name, path, sample, folder }),
      });
    } finally {
      source.close();
    }
  });
}
