import type { RecordProblem } from '../../ports/codec.ts';

/** What `decode` gives; a problem where it meets a value that is nested too deeply to be written as JSON. `what` has that value: "a message". */
export function refuseDeepNesting<T>(what: string, decode: () => T): T | RecordProblem {
  try {
    return decode();
  } catch (error) {
    if (error instanceof RangeError) return { problem: `${what} nested too deeply to be read` };
    throw error;
  }
}
