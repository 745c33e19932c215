/** Scripts depend on these numbers. */
export const EXIT_CODES = {
  /** Done, or nothing to do. */
  done: 0,
  /** At least one transcript failed. */
  failed: 1,
  /** The command line or the configuration is wrong; nothing was started. */
  usage: 2,
  /** By SIGINT. */
  interrupted: 130,
  /** By SIGTERM. */
  terminated: 143,
} as const;

/** The exit code of a program that this one has become. */
export type ProgramCode = number & { readonly of: 'program' };

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES] | ProgramCode;

/** The exit code of a run that a signal ended: 128 plus the signal's number, as in a shell. */
export function interruptionCode({ reason }: AbortSignal): ExitCode {
  return reason === EXIT_CODES.terminated ? EXIT_CODES.terminated : EXIT_CODES.interrupted;
}
