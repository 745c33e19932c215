import type { ConfigRequest } from '../config/find.ts';
import type { SettingFlags } from '../config/resolve.ts';

/** How much a run prints, and how; the same options for every command. */
export type OutputOptions = {
  readonly json: boolean;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
  readonly color: 'always' | 'never' | 'auto';
  readonly showProgress: boolean;
};

/** Which settings apply. */
export type SettingsRequest = ConfigRequest & {
  readonly flags: SettingFlags;
  /** The limit for unpacking a compressed transcript; by default the file system's adapter decides. */
  readonly maxUnpackedBytes?: number;
};

/** The options of every command that reads the configuration. */
export type CommonRequest = { readonly outputOptions: OutputOptions; readonly settings: SettingsRequest };

/** The options of every command that can read a pipe. */
export type PipedRequest = {
  /** No operand was given, and standard input is used because it is not a terminal. */
  readonly isStdinImplied: boolean;
};

/** What is wrong with a command line; `command` is the one whose help explains it. */
export type UsageProblem = {
  readonly message: string;
  readonly command: string;
  /** The line has no operands. */
  readonly lacksOperand?: boolean;
};
