import type { FailureKind, UsageReport } from './app/contract/reports.ts';
import type { CompactionConfig } from './core/policy.ts';
import type { ModelProvider } from './ports/model.ts';

/** Options of every function that works on files or on the archive. No configuration file is read. */
type ArchiveOptions = {
  /** The path of the archive. By default the one of the command line: `$XDG_DATA_HOME/compact/archive.db`. */
  readonly archive?: string | undefined;
  /** Stops the work: the file that is being worked on stays as it was, and the error is `interrupted`. */
  readonly signal?: AbortSignal | undefined;
};

/** How far a stage of the work is. `done` and `total` are bytes while `stage` is 'reading', and parts of the summary while it is 'summarizing'. */
export type FileProgress = { readonly stage: string; readonly done: number; readonly total: number };

export type FileOptions = ArchiveOptions & {
  /** Called often, from inside the work: it should return at once. If it throws, the work stops and the promise is rejected. */
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  /** The name of the transcript's format, as `compact --formats` lists it. By default it is detected. */
  readonly format?: string | undefined;
};

/** At most one of the first three can be given. */
export type CompactFileOptions = FileOptions & {
  /** The path of the result, or a folder for it. By default `NAME.compact.jsonl` beside the input. */
  readonly output?: string | undefined;
  /** Replaces the input, atomically. */
  readonly inPlace?: boolean | undefined;
  /** Writes nothing and calls no model; the report has the plan. */
  readonly dryRun?: boolean | undefined;
  /** Who writes the summaries. By default the offline summarizer, which sends nothing. */
  readonly model?: ServiceModel | CustomModel | undefined;
  /** Changes to the defaults of the command line, for example `{ keepRecent: 20 }`. */
  readonly compaction?: Partial<CompactionConfig> | undefined;
  /** Compacts the least important messages first, and only until the transcript has at most this many tokens. */
  readonly targetTokens?: number | undefined;
  /** Leaves a transcript with at most this many tokens as it is. */
  readonly ifOverTokens?: number | undefined;
  /** Carries lines that are not JSON along, byte for byte, instead of failing. False by default. */
  readonly keepInvalid?: boolean | undefined;
  /** Goes on although the archive does not know the file's earlier compactions. False by default. */
  readonly isFresh?: boolean | undefined;
  /** Whether system messages stay. True by default. */
  readonly keepSystem?: boolean | undefined;
  /** The id of the conversation if the file has none. */
  readonly conversation?: string | undefined;
};

/**
 * What the messages are. openai: chat completions; anthropic; ai-sdk: `ModelMessage`; agents: items of the OpenAI Agents SDK; responses: items
 * of OpenAI's Responses API.
 */
export type MessageKind = 'openai' | 'anthropic' | 'ai-sdk' | 'agents' | 'responses';

export type CompactMessagesOptions = Omit<
  CompactFileOptions,
  'output' | 'inPlace' | 'dryRun' | 'format' | 'keepInvalid' | 'isFresh'
> & {
  /** By default recognized. */
  readonly kind?: MessageKind | undefined;
};

export type RestoreMessagesOptions = Omit<FileOptions, 'format'> &
  Pick<CompactMessagesOptions, 'kind'> & {
    /** False: undoes only the last compaction. */
    readonly all?: boolean | undefined;
  };

/** A model behind an API. Secrets are masked in what is sent, unless the service runs on this machine. */
export type ServiceModel = {
  readonly provider: 'anthropic' | 'openai' | 'openai-compat' | 'ollama';
  /** The model's name at the service. */
  readonly name: string;
  /** By default the provider's own address; `openai-compat` has none. */
  readonly baseUrl?: string | undefined;
  /** By default `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` of the environment, as the provider needs. */
  readonly apiKey?: string | undefined;
};

/** Your own model. Secrets are masked in the requests that `complete` gets unless `redact` is false. */
export type CustomModel = ModelProvider & {
  /** Identifies the model: summaries that it made are reused under this name. */
  readonly name: string;
  readonly redact?: boolean | undefined;
};

export type RestoreFileOptions = FileOptions &
  ({ readonly output: string } | { readonly inPlace: true }) & {
    /** Undoes every compaction of the file instead of only the last one. */
    readonly all?: boolean | undefined;
  };

export type VerifyFileOptions = FileOptions;

export type SearchOptions = ArchiveOptions & {
  /** By default 'all'. */
  readonly kinds?: 'all' | 'messages' | 'batches' | undefined;
  /** By default 'best'; 'newest': the most recently archived first. */
  readonly order?: 'best' | 'newest' | undefined;
  /** The maximum number of hits; 10 by default. */
  readonly limit?: number | undefined;
  /** Only hits of this conversation. */
  readonly conversation?: string | undefined;
  /** Only messages of this role. */
  readonly role?: 'user' | 'assistant' | 'system' | 'tool' | undefined;
  /** Only what was said at this time or later. */
  readonly since?: Date | undefined;
  /** Only what was said before this time. */
  readonly until?: Date | undefined;
  /** Only from this transcript: its path, or the end of it. */
  readonly source?: string | undefined;
};

/** Why nothing was done. The file is as it was. */
export type LibraryError = {
  /** For programs. `usage`: the options cannot be used. `interrupted`: the signal stopped the work. */
  readonly kind: FailureKind | 'usage' | 'interrupted';
  /** For people: what happened, where, and what to try. It may name an option of the command line. */
  readonly message: string;
  /** What the model was paid all the same. */
  readonly usage?: UsageReport;
};
