import type { Step } from './case.ts';
import { endsOpen, linesOf } from './lines.ts';

/** A file through its compactions, and what it would be if none had been made. */
export type History = {
  /** The file with what a step appends. */
  readonly append: (step: Pick<Step, 'appended' | 'echo'>) => Buffer;
  /** What became of the file. */
  readonly replace: (file: Buffer, isCompacted: boolean) => void;
  /** The archive stays behind: the file as it is now is as good as an original. */
  readonly forget: () => void;
  /** What `restore --all` must give, where it gives anything. */
  readonly original: () => Buffer;
  /** The archive that stayed behind has a compaction of the file, so `restore --all` may refuse. */
  readonly isOrphaned: () => boolean;
};

export function createHistory(): History {
  const state: { file: Buffer; original: Buffer; isCompacted: boolean; isOrphaned: boolean } = {
    file: Buffer.alloc(0),
    original: Buffer.alloc(0),
    isCompacted: false,
    isOrphaned: false,
  };
  return {
    append: ({ appended, echo }) => {
      const more = Buffer.concat([echoOf(state.file, echo), appended]);
      // The original's last line may have left: a line of the appended ones must not be glued to it when it comes back.
      const isGap =
        state.isCompacted && !endsOpen(state.file) && endsOpen(state.original) && more.length > 0 && more[0] !== 0x0a;
      state.original = Buffer.concat([state.original, Buffer.from(isGap ? '\n' : ''), more]);
      state.file = Buffer.concat([state.file, more]);
      return state.file;
    },
    replace: (file, isCompacted) => {
      state.file = file;
      state.isCompacted ||= isCompacted;
    },
    forget: () => {
      state.original = state.file;
      state.isOrphaned ||= state.isCompacted;
      state.isCompacted = false;
    },
    original: () => state.original,
    isOrphaned: () => state.isOrphaned,
  };
}

function echoOf(file: Buffer, echo: Step['echo']): Buffer {
  if (echo === 'everything') return file;
  return Buffer.from(echo === 'first line' ? (linesOf(file)[0] ?? '') : '', 'latin1');
}
