import { z } from 'zod';
import type { CompactionConfig } from './core/policy.ts';
import type {
  CompactFileOptions,
  CompactMessagesOptions,
  CustomModel,
  FileOptions,
  MessageKind,
  RestoreFileOptions,
  RestoreMessagesOptions,
  SearchOptions,
  ServiceModel,
} from './library-options.ts';

// For callers without a type checker: a mistyped `dryRun` must not write. Messages complete "KEY must be".

type Checks<Options> = { readonly [key in keyof Options]-?: z.ZodType };

const text = z.string('a string').optional();
const flag = z.boolean('true or false').optional();
const COUNT = 'a whole number of 1 or more';
const count = z.int(COUNT).positive(COUNT).optional();
const object = z.custom((value) => typeof value === 'object' && value !== null, 'an object').optional();
const callback = z.custom((value) => typeof value === 'function', 'a function').optional();
const date = z.date('a valid Date').optional();

const AT_LEAST_0 = 'a number of 0 or more';
const number = z.number(AT_LEAST_0).nonnegative(AT_LEAST_0).exactOptional();
const ofType = (...types: readonly string[]): z.ZodType =>
  z.custom((value) => types.includes(typeof value), `of type ${types[0]}`).exactOptional();

const COMPACTION = {
  chunkSize: number,
  keepRecent: number,
  keepRecentTokens: number,
  maxSummaryTokens: number,
  summaryTokens: number,
  clipFirst: number,
  clipLast: number,
  prompt: ofType('string', 'object'),
  scoring: ofType('object'),
  timeout: number,
  maxRetries: number,
  maxChunkTokens: number,
  maxConsecutiveFailures: number,
  modelMaxTokens: number,
  appendixShare: number,
  requestTokens: number,
  minRetention: number,
  keepRules: ofType('boolean'),
  rulesFromChats: ofType('boolean'),
  foldIn: ofType('boolean'),
  rules: ofType('object'),
  dropRules: ofType('object'),
} satisfies Checks<CompactionConfig>;

const EVERY = { archive: text, signal: object, onProgress: callback };
const FILE = { ...EVERY, format: text } satisfies Checks<FileOptions>;
const COMPACT = {
  model: object,
  compaction: z.strictObject(COMPACTION, 'an object').optional(),
  targetTokens: count,
  ifOverTokens: count,
  keepSystem: flag,
  conversation: text,
};
const KINDS: readonly MessageKind[] = ['openai', 'anthropic', 'ai-sdk', 'agents', 'responses'];
const kind = z.enum(KINDS, `one of ${KINDS.join(', ')}`).optional();

const OPTIONS = {
  compactFile: {
    ...FILE,
    ...COMPACT,
    output: text,
    inPlace: flag,
    dryRun: flag,
    keepInvalid: flag,
    isFresh: flag,
  } satisfies Checks<CompactFileOptions>,
  restoreFile: { ...FILE, output: text, inPlace: flag, all: flag } satisfies Checks<RestoreFileOptions>,
  verifyFile: FILE,
  compactMessages: { ...EVERY, ...COMPACT, kind } satisfies Checks<CompactMessagesOptions>,
  restoreMessages: { ...EVERY, kind, all: flag } satisfies Checks<RestoreMessagesOptions>,
  searchArchive: {
    archive: text,
    signal: object,
    kinds: text,
    order: text,
    limit: count,
    conversation: text,
    role: text,
    since: date,
    until: date,
    source: text,
  } satisfies Checks<SearchOptions>,
};

/** What is wrong with a call of this function; null: it can be understood. */
export function findWrongCall(name: keyof typeof OPTIONS, subject: unknown, options: unknown): string | null {
  if (name === 'compactMessages' || name === 'restoreMessages') {
    if (!Array.isArray(subject) || !subject.every((one) => typeof one === 'object' && one !== null))
      return 'the messages must be a list of objects';
  } else if (typeof subject !== 'string' || subject === '')
    return `the ${name === 'searchArchive' ? 'query' : 'path'} must be a string with text`;
  const checks = OPTIONS[name];
  const [issue] = z.strictObject(checks).safeParse(options).error?.issues ?? [];
  if (issue === undefined) {
    const { model } = options as Pick<CompactFileOptions, 'model'>;
    return model === undefined ? null : findWrongModel(model);
  }
  const of = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys')
    return of === '' ? 'the options must be an object' : `${of} must be ${issue.message}`;
  const known = Object.keys(of === '' ? checks : COMPACTION).join(', ');
  return `${of === '' ? 'there is' : `${of} has`} no option ${issue.keys[0]}; there are ${known}`;
}

/** A name or a provider that is wrong; null: nothing is. */
function findWrongModel(model: ServiceModel | CustomModel): string | null {
  if (typeof model.name !== 'string' || model.name === '') return 'model.name must be the name of the model';
  if ('complete' in model || SERVICES.includes(model.provider)) return null;
  return `model.provider must be one of ${SERVICES.join(', ')}; a model of your own has a function complete instead`;
}

const SERVICES: readonly string[] = [
  'anthropic',
  'openai',
  'openai-compat',
  'ollama',
] satisfies ServiceModel['provider'][];
