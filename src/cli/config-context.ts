import type { CommonRequest } from './invocation.ts';
import type { Reporter } from './reporter.ts';
import type { Terminal } from './terminal.ts';

export type ConfigInvocation = CommonRequest & {
  readonly kind: 'config';
  readonly action: 'show' | 'path' | 'init' | 'get' | 'set' | 'edit' | 'trust';
  /** For `trust`: a file; for `get` and `set`: a key. Null: not given. */
  readonly name: string | null;
  /** For `set`. */
  readonly value: string | null;
  /** The file that `init`, `set` and `edit` write; null: the action decides. */
  readonly scope: 'user' | 'project' | null;
  /** For `trust`; null: trust the file. */
  readonly change: 'list' | 'revoke' | null;
};

/** What the actions of `compact config` work with. */
export type ConfigContext = {
  readonly terminal: Terminal;
  readonly reporter: Reporter;
  readonly invocation: ConfigInvocation;
};
