/** Scripts depend on these numbers. */
export const EXIT_CODES = {
  /** Done, or nothing to do. */
  done: 0,
  /** At least one transcript could not be dealt with. */
  failed: 1,
  /** The command line or the configuration is wrong; nothing was begun. */
  usage: 2,
  /** By SIGINT or SIGTERM. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];
