import type { ConfigRequest } from '../config/find.ts';
import type { SettingFlags } from '../config/resolve.ts';

/** How a run speaks: the same for every command. */
export type OutputOptions = {
  readonly json: boolean;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
  readonly color: 'always' | 'never' | 'auto';
  readonly showProgress: boolean;
};

/** Which settings apply. */
export type SettingsRequest = ConfigRequest & {
  readonly flags: SettingFlags;
  /** How large a compressed transcript may become; by default the file system's adapter decides. */
  readonly maxUnpackedBytes?: number;
};

/** What every command that reads the configuration is asked. */
export type CommonRequest = { readonly outputOptions: OutputOptions; readonly settings: SettingsRequest };

/** What every command that can read a pipe is asked. */
export type PipedRequest = {
  /** Nothing was named, and standard input is taken because it is no terminal. */
  readonly isStdinImplied: boolean;
};

/** What is wrong with a command line; `command` is the one whose help tells more. */
export type UsageProblem = {
  readonly message: string;
  readonly command: string;
  /** No operand stands on the line. */
  readonly lacksOperand?: boolean;
};
