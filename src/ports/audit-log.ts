/** Who uses the program, where, and which version of it. */
export type Caller = { readonly user: string; readonly host: string; readonly version: string };

export const DEEDS = ['prune', 'erase', 'hold', 'release', 'merge', 'trust', 'remove', 'import'] as const;

/** What a person did to the archive as a whole. `details`: counts, receipts, paths and reasons as a JSON object, and no text of conversations. */
export type Deed = { readonly action: (typeof DEEDS)[number]; readonly doneAt: Date; readonly details: string };

/** `token`: the same in every archive that has the entry. */
export type LogEntry = Deed & { readonly token: string; readonly by: Caller };

/** Nothing changes or removes an entry. Holds, erasures and removals of captured files are logged together with what they do. */
export type AuditLog = {
  /** Oldest first. */
  readonly list: () => Promise<readonly LogEntry[]>;
  readonly add: (deed: Deed) => Promise<void>;
};
