import type { ConfigPlace, HostEnvironment } from '../../src/config/find.ts';
import type { LoadedConfig } from '../../src/config/load.ts';
import type { KeyLines } from '../../src/config/parse.ts';
import type { ConfigFile } from '../../src/config/settings.ts';

/** Who runs the test, whose own the files of a test are. */
export const USER_ID = process.geteuid?.() ?? null;

export function surroundingsOf(changes: Partial<HostEnvironment> = {}): HostEnvironment {
  return { environment: {}, workingFolder: '/work', homeFolder: '/home/u', userId: USER_ID, ...changes };
}

export const NO_CONFIG: LoadedConfig = { file: null, values: {}, refused: {}, ignored: null };

type FileFacts = {
  readonly path?: string;
  readonly place?: ConfigPlace;
  readonly lines?: KeyLines;
  /** What it may not set. */
  readonly refused?: ConfigFile;
};

/** A file that sets these values, and may. */
export function configOf(
  values: ConfigFile,
  { path = '/p/compact.toml', place = 'user', lines = { lineOf: () => 1 }, refused = {} }: FileFacts = {},
): LoadedConfig {
  return { file: { path, place, lines, trust: { kind: 'given' } }, values, refused, ignored: null };
}
