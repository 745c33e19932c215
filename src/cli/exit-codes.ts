/** Scripts depend on these numbers. */
export const EXIT_CODES = {
  /** Done, or nothing to do. */
  done: 0,
  /** At least one transcript could not be dealt with. */
  failed: 1,
  /** The command line or the configuration is wrong; nothing was begun. */
  usage: 2,
  /** By SIGINT. */
  interrupted: 130,
  /** By SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** The code of a run that a signal has ended: 128 and the signal's number, as shells have it. */
export function interruptionCode({ reason }: AbortSignal): ExitCode {
  return reason === EXIT_CODES.terminated ? EXIT_CODES.terminated : EXIT_CODES.interrupted;
}
