import { rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import type { SearchReport } from './app/contract/archive-reports.ts';
import type { Failure } from './app/contract/failure.ts';
import type { CompactFileRequest, RestoreFileRequest } from './app/contract/requests.ts';
import type { CompactReport, RestoreReport, VerifyReport } from './app/contract/reports.ts';
import type { ModelChoice } from './compose/services.ts';
import type { UseCases } from './compose/use-cases.ts';
import type { HostEnvironment } from './config/find.ts';
import type { ResolvedSettings, SettingFlags } from './config/resolve.ts';
import { err, ok, type Result } from './core/result.ts';
import type {
  CompactFileOptions,
  FileOptions,
  LibraryError,
  RestoreFileOptions,
  SearchOptions,
  VerifyFileOptions,
} from './library-options.ts';
import type { Progress } from './ports/runtime.ts';

/** Compacts a transcript file. `value.result` is 'skipped' if there was nothing to do. */
export async function compactFile(
  path: string,
  options: CompactFileOptions = {},
): Promise<Result<CompactReport, LibraryError>> {
  const wrong = (await import('./library-checks.ts')).findWrongCall('compactFile', path, options);
  if (wrong !== null) return usageError(wrong);
  const { planOutputs } = await import('./compose/outputs.ts');
  const { describeOutputProblem } = await import('./messages/problems.ts');
  const choice = chooseOutput(options);
  if (!choice.ok) return choice;
  const file = { path, pathInFolder: basename(path) };
  const outputs = planOutputs({ files: [file], isSeveral: false, choice: choice.value });
  if (!outputs.ok) return usageError(describeOutputProblem(outputs.error));
  const output = options.dryRun === true ? ({ kind: 'none' } as const) : (outputs.value[0] ?? { kind: 'none' });
  return compactWith(options, { input: inputOf(path, options), output });
}

/** What `compactFile` and `compactMessages` have in common. `stdout`: gets the result if that is the output. */
export async function compactWith(
  options: CompactFileOptions,
  target: Pick<CompactFileRequest, 'input' | 'output'> & {
    readonly summaryIsUsers?: true;
    readonly stdout?: (bytes: Uint8Array) => void;
  },
): Promise<Result<CompactReport, LibraryError>> {
  const { resolveSettings, toModel, toPolicy } = await import('./config/resolve.ts');
  const { input, output, summaryIsUsers } = target;
  const host = readHost();
  const flags = toFlags(options);
  const settings = resolveSettings({ config: NO_CONFIG, flags, host });
  const policy = toPolicy(settings, {
    targetTokens: options.targetTokens ?? null,
    ifOver: options.ifOverTokens ?? null,
    conversation: options.conversation ?? null,
    isFresh: options.isFresh === true,
  });
  const compaction = { ...policy.compaction, ...options.compaction };
  return withUseCases({ ...options, stdout: target.stdout }, async (useCases, progress) => {
    const model = await chooseModel(options, { settings, flags, host });
    if (!model.ok) return model;
    const summarizer = await useCases.createSummarizer({ model: model.value, compaction });
    if (!summarizer.ok) return usageError(summarizer.error);
    const request = {
      input,
      output,
      policy: { ...policy, compaction, ...(summaryIsUsers === true && { summaryIsUsers }) },
      ...toModel(settings),
      summarizer: summarizer.value.value,
      embeddings: null,
    };
    return toLibraryResult(input.name, await useCases.compactFile(request, progress));
  });
}

/** Restores the original of a compacted file, byte for byte. */
export async function restoreFile(
  path: string,
  options: RestoreFileOptions,
): Promise<Result<RestoreReport, LibraryError>> {
  const wrong = (await import('./library-checks.ts')).findWrongCall('restoreFile', path, options);
  if (wrong !== null) return usageError(wrong);
  const choice = chooseOutput(options);
  if (!choice.ok) return choice;
  const output = choice.value;
  if (output.kind === 'default') return usageError('restoreFile needs output or inPlace: true');
  const { isSameFile } = await import('./compose/outputs.ts');
  if (output.kind === 'path' && isSameFile(output.path, path)) {
    return usageError('the output is the compacted file itself: use inPlace: true to replace it');
  }
  const target = output.kind === 'path' ? ({ kind: 'file', path: output.path } as const) : output;
  return restoreWith(options, { input: inputOf(path, options), output: target, all: options.all ?? false });
}

export async function restoreWith(
  options: FileOptions,
  request: RestoreFileRequest,
  stdout?: (bytes: Uint8Array) => void,
): Promise<Result<RestoreReport, LibraryError>> {
  return withUseCases({ ...options, stdout }, async (useCases, progress) =>
    toLibraryResult(request.input.name, await useCases.restoreFile(request, progress)),
  );
}

/** Checks a compacted file against the archive. `value.result` is 'failed' if it finds problems; it changes nothing. */
export async function verifyFile(
  path: string,
  options: VerifyFileOptions = {},
): Promise<Result<VerifyReport, LibraryError>> {
  const wrong = (await import('./library-checks.ts')).findWrongCall('verifyFile', path, options);
  if (wrong !== null) return usageError(wrong);
  return withUseCases(options, async (useCases, progress) =>
    toLibraryResult(path, await useCases.verifyFile({ input: inputOf(path, options) }, progress)),
  );
}

/** Searches archived messages and summaries by words. `value.archive` is null if there is no archive yet. */
export async function searchArchive(
  query: string,
  options: SearchOptions = {},
): Promise<Result<SearchReport, LibraryError>> {
  const wrong = (await import('./library-checks.ts')).findWrongCall('searchArchive', query, options);
  if (wrong !== null) return usageError(wrong);
  const { kinds = 'all', order = 'best', limit = 10, conversation, role, since, until, source } = options;
  const request = {
    query,
    kinds,
    order,
    limit,
    embeddings: null,
    conversation: conversation ?? null,
    role: role ?? null,
    since: since ?? null,
    until: until ?? null,
    source: source ?? null,
  };
  return withUseCases(options, async (useCases) => toLibraryResult('', await useCases.searchArchive(request)));
}

function usageError(message: string): Result<never, LibraryError> {
  return err({ kind: 'usage', message });
}

type Output =
  | { readonly kind: 'default' }
  | { readonly kind: 'in-place' }
  | { readonly kind: 'path'; readonly path: string };

function chooseOutput({
  output,
  inPlace,
  dryRun,
}: Pick<CompactFileOptions, 'output' | 'inPlace' | 'dryRun'>): Result<Output, LibraryError> {
  const given = [output !== undefined, inPlace === true, dryRun === true].filter(Boolean).length;
  if (given > 1) return usageError('only one of output, inPlace and dryRun can be given');
  if (inPlace === true) return ok({ kind: 'in-place' });
  return ok(output === undefined ? { kind: 'default' } : { kind: 'path', path: output });
}

/** No configuration file is read. */
const NO_CONFIG = { file: null, values: {}, refused: {}, ignored: null } as const;

/** The options under the names of the settings. */
function toFlags({ model, compaction, keepInvalid, keepSystem }: CompactFileOptions): SettingFlags {
  const service = model === undefined || 'complete' in model ? null : model;
  return {
    summarization: {
      provider: model === undefined ? undefined : (service?.provider ?? CUSTOM),
      name: model?.name,
      base_url: service?.baseUrl,
      api_key: service?.apiKey,
      // These two decide whether the offline summary is one.
      chunk_size: compaction?.chunkSize,
      max_chunk_tokens: compaction?.maxChunkTokens,
      keep_system: keepSystem,
    },
    transcript: { keep_invalid: keepInvalid },
  };
}

const CUSTOM = 'custom';
const UNLIMITED = { requestsPerMinute: null, inputTokensPerMinute: null, outputTokensPerMinute: null };

/** Null: summaries are made offline. */
async function chooseModel(
  { model, dryRun = false }: CompactFileOptions,
  { settings, flags, host }: { settings: ResolvedSettings; flags: SettingFlags; host: HostEnvironment },
): Promise<Result<ModelChoice | null, LibraryError>> {
  if (model === undefined) return ok(null);
  const common = {
    limits: UNLIMITED,
    maxTokensField: null,
    fallsBack: false,
    isDryRun: dryRun,
    redactRulesPath: null,
    notice: () => undefined,
  };
  if ('complete' in model) {
    const { name, redact = true } = model;
    const access = { provider: CUSTOM, model: name, baseUrl: '', apiKey: null, redactsSecrets: redact } as const;
    return ok({ ...common, ...access, custom: model });
  }
  const { resolveModelAccess } = await import('./config/access.ts');
  const { environment } = host;
  const access = resolveModelAccess({ settings, config: NO_CONFIG, flags, environment, isDryRun: dryRun });
  if (!access.ok) return usageError(access.error);
  return ok(access.value === null ? null : { ...common, ...access.value });
}

function inputOf(path: string, { format = null }: { format?: string | null | undefined }) {
  return { path, name: path, format };
}

/** Runs `work` with an archive that is closed afterwards, and with an exit listener for the temporary files only while it runs. */
async function withUseCases<T>(
  {
    archive,
    signal = new AbortController().signal,
    format,
    onProgress,
    stdout = () => undefined,
  }: FileOptions & { stdout?: ((bytes: Uint8Array) => void) | undefined },
  work: (useCases: UseCases, progress: Progress) => Promise<Result<T, LibraryError>>,
): Promise<Result<T, LibraryError>> {
  const { createUseCases } = await import('./compose/use-cases.ts');
  const { defaultArchivePath } = await import('./config/find.ts');
  const leftovers = new Set<string>();
  const remove = (path: string): void => rmSync(path, { recursive: true, force: true });
  const clean = (): void => [...leftovers].toReversed().forEach(remove);
  const progress: Progress = {
    update: (stage, done, total) => onProgress?.({ stage, done, total }),
    finish: () => undefined,
  };
  const useCases = createUseCases({
    archivePath: archive === undefined ? defaultArchivePath(readHost()) : resolve(archive),
    progress,
    signal,
    stdout,
    removeAtExit: (path) => {
      leftovers.add(path);
      return (how) => {
        if (how !== 'keep') remove(path);
        leftovers.delete(path);
      };
    },
  });
  process.on('exit', clean);
  try {
    const formats = useCases.listFormats().map(({ name }) => name);
    if (format !== undefined && !formats.includes(format)) {
      return usageError(`there is no format '${format}'; there are ${formats.join(', ')}`);
    }
    return await work(useCases, progress);
  } finally {
    process.off('exit', clean);
    await useCases.close();
  }
}

async function toLibraryResult<T>(file: string, result: Result<T, Failure>): Promise<Result<T, LibraryError>> {
  if (result.ok) return result;
  const { error } = result;
  if (error.kind === 'interrupted')
    return err({
      kind: 'interrupted',
      message: file === '' ? 'interrupted.' : `${file}: interrupted; it is as it was.`,
    });
  const { toFailedReport } = await import('./messages/failure.ts');
  const report = toFailedReport(file, error);
  return err({ ...report.error, ...(report.usage === undefined ? {} : { usage: report.usage }) });
}

function readHost(): HostEnvironment {
  const userId = process.geteuid?.() ?? null;
  return { environment: process.env, workingFolder: process.cwd(), homeFolder: homedir(), userId };
}
