import type { SearchRequest } from '../app/contract/requests.ts';
import type { ConfigRequest } from '../config/find.ts';
import type { PolicyRequest, SettingFlags } from '../config/resolve.ts';
import type { McpScope } from './mcp/scope.ts';

/** How a run speaks: the same for every command. */
export type Manner = {
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

type Common = { readonly manner: Manner; readonly settings: SettingsRequest };

type Piped = {
  /** Nothing was named, and standard input is taken because it is no terminal. */
  readonly isStdinImplied: boolean;
};

export type CompactInvocation = Common &
  Piped & {
    readonly kind: 'compact';
    /** The operands that could have been meant as a command: if one of them looks mistaken, nothing is begun. */
    readonly openWords: readonly string[];
    readonly operands: readonly string[];
    /** A list of further transcripts; '-': on standard input. */
    readonly filesFrom: string | null;
    readonly format: string | null;
    readonly policy: PolicyRequest;
    readonly output: OutputChoice;
    readonly isDryRun: boolean;
    /** Transcripts at a time. */
    readonly jobs: number;
  };

export type OutputChoice =
  | { readonly kind: 'default' }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'in-place' }
  | { readonly kind: 'stdout' }
  /** The summaries are made and shown. */
  | { readonly kind: 'preview' };

export type ScoreInvocation = Common &
  Piped & {
    readonly kind: 'score';
    readonly operands: readonly string[];
    readonly format: string | null;
    readonly policy: PolicyRequest;
    readonly explain: boolean;
    readonly limit: number | null;
    readonly sort: ScoreOrder;
  };

export const SCORE_ORDERS = ['score', 'position'] as const;
export type ScoreOrder = (typeof SCORE_ORDERS)[number];

export type ScanInvocation = Common & {
  readonly kind: 'scan';
  /** None: where the known producers keep their transcripts. */
  readonly operands: readonly string[];
  /** Only of this one. */
  readonly format: string | null;
  readonly policy: PolicyRequest;
  readonly largerThanBytes: number | null;
  /** The last message was earlier. */
  readonly before: Date | null;
  readonly sort: ScanOrder;
  readonly output: 'table' | 'json' | 'paths';
};

export const SCAN_ORDERS = ['saving', 'size', 'age', 'tokens', 'path'] as const;
type ScanOrder = (typeof SCAN_ORDERS)[number];

export type RestoreInvocation = Common &
  Piped & {
    readonly kind: 'restore';
    readonly operand: string;
    readonly format: string | null;
    readonly output: Exclude<OutputChoice, { readonly kind: 'default' | 'preview' }>;
    readonly all: boolean;
  };

export type VerifyInvocation = Common &
  Piped & {
    readonly kind: 'verify';
    readonly operands: readonly string[];
    readonly filesFrom: string | null;
    readonly format: string | null;
  };

/** `query` '-': one query a line on standard input. */
export type SearchInvocation = Common & SearchRequest & { readonly kind: 'search' };

export type ShowInvocation = Common & {
  readonly kind: 'show';
  readonly name: string;
  /** The lines behind it, as they stood. */
  readonly originals: boolean;
};

export type ArchiveInvocation = Common & { readonly kind: 'archive'; readonly action: ArchiveAction };

export const ARCHIVE_ACTIONS = ['list', 'stats', 'check', 'embed'] as const;
type ArchiveAction = (typeof ARCHIVE_ACTIONS)[number];

export type McpInvocation = Common & {
  readonly kind: 'mcp';
  /** In which transcripts may be compacted. */
  readonly folders: readonly string[];
  readonly allowsCompacting: boolean;
  /** What the server shows of the archive. */
  readonly scope: McpScope;
  readonly masksSecrets: boolean;
};

export type ConfigInvocation = Common & {
  readonly kind: 'config';
  readonly action: ConfigAction;
  /** For `trust`; null: the project's file. */
  readonly file: string | null;
  /** For `trust`; null: trust the file. */
  readonly change: 'list' | 'revoke' | null;
};

export const CONFIG_ACTIONS = ['show', 'path', 'trust'] as const;
type ConfigAction = (typeof CONFIG_ACTIONS)[number];

export type SchemaInvocation = { readonly kind: 'schema'; readonly of: SchemaName };

export const SCHEMA_NAMES = [
  'compact',
  'score',
  'restore',
  'verify',
  'search',
  'show',
  'archive-list',
  'archive-stats',
  'archive-check',
  'archive-embed',
  'scan',
] as const;
export type SchemaName = (typeof SCHEMA_NAMES)[number];

/** What the command line asks for, as plain data. */
export type Invocation =
  | CompactInvocation
  | ScoreInvocation
  | ScanInvocation
  | RestoreInvocation
  | VerifyInvocation
  | SearchInvocation
  | ShowInvocation
  | ArchiveInvocation
  | McpInvocation
  | ConfigInvocation
  | SchemaInvocation
  | (Common & { readonly kind: 'formats' })
  | { readonly kind: 'version'; readonly version: string }
  /** `isAnswer` false: help was not asked for, so that it is no answer and goes to stderr. */
  | { readonly kind: 'help'; readonly text: string; readonly isAnswer: boolean };

/** What is wrong with a command line; `command` is the one whose help tells more. */
export type UsageProblem = {
  readonly message: string;
  readonly command: string;
  /** No operand stands on the line. */
  readonly lacksOperand?: boolean;
};
