import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { chatLine, prose } from './chat.ts';
import { folderWith } from './folders.ts';
import { answer, type AnswerReply, type Reply } from './model-server/reply.ts';

export type Provider = 'anthropic' | 'openai-compat' | 'ollama';
export const PROVIDERS: readonly Provider[] = ['anthropic', 'openai-compat', 'ollama'];

export const KEY = 'made-up-key-0123456789abcdefghij';
export const MODEL = 'test-model';
const TRANSCRIPT = 'talk.jsonl';

/** Null: not there. */
export type Settings = Readonly<Record<string, string | number | boolean | null>>;

/** A transcript in a folder with an archive and a configuration of its own, which has it summarized by a model. */
export type ModelScene = {
  readonly folder: string;
  readonly file: string;
  readonly archive: string;
  /** Arguments of any compaction, the transcript last. */
  readonly args: readonly string[];
  readonly sha256: () => string;
  readonly text: () => string;
  /** Another configuration in the place of this one. */
  readonly configure: (provider: Provider, settings: Settings) => void;
  /** What is in the folder beside the transcript, the configuration and the archive's own files. */
  readonly strangers: () => readonly string[];
};

const DEFAULTS: Settings = {
  keep_recent: 2,
  keep_recent_tokens: 0,
  chunk_size: 4,
  max_summary_tokens: 300,
  chunk_order: 'chronological',
  compaction_timeout: 600_000,
  compaction_max_retries: 2,
};

export type SceneSetup = {
  readonly provider: Provider;
  /** Of the server, without a path. */
  readonly url: string;
  readonly transcript: string;
  /** Of the table `summarization`, beside what each scene has; `redact` is of the table `privacy`. */
  readonly settings?: Settings;
};

export function openModelScene(
  context: TestContext,
  { provider, url, transcript, settings = {} }: SceneSetup,
): ModelScene {
  const folder = folderWith(context, { [TRANSCRIPT]: transcript, 'archive/': '' });
  const [file, archive, config] = [
    join(folder, TRANSCRIPT),
    join(folder, 'archive/archive.db'),
    join(folder, 'config.toml'),
  ];
  const configure: ModelScene['configure'] = (name, changes) =>
    writeFileSync(config, configOf(name, url, { ...DEFAULTS, ...settings, ...changes }));
  configure(provider, {});
  return {
    folder,
    file,
    archive,
    args: ['--config', config, '--archive', archive, file],
    sha256: () => createHash('sha256').update(readFileSync(file)).digest('hex'),
    text: () => readFileSync(file, 'utf8'),
    configure,
    strangers: () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(
          (name) =>
            ![TRANSCRIPT, 'config.toml', 'archive'].includes(name) && !/^archive.archive\.db(?:-wal|-shm)?$/.test(name),
        )
        .toSorted(),
  };
}

function configOf(provider: Provider, url: string, { redact, ...settings }: Settings): string {
  const own = {
    provider,
    name: MODEL,
    base_url: provider === 'anthropic' ? url : `${url}/v1`,
    api_key: KEY,
    ...settings,
  };
  const lines = Object.entries(own).flatMap(([key, value]) =>
    value === null ? [] : [`${key} = ${JSON.stringify(value)}`],
  );
  return ['[summarization]', ...lines, ...(redact === undefined ? [] : ['[privacy]', `redact = ${redact}`]), ''].join(
    '\n',
  );
}

/** So many messages to be summarized, a user's and an assistant's by turns, and the two after them that stay. */
export function talkOf(count: number): string {
  return Array.from(
    { length: count + 2 },
    (_, at) => `${chatLine({ role: at % 2 === 0 ? 'user' : 'assistant', content: prose(at, 80) })}\n`,
  ).join('');
}

/** An answer whose counts of tokens any request may have. */
export function summary(text: string, rest: Omit<Partial<AnswerReply>, 'kind' | 'text'> = {}): Reply {
  return answer(text, { usage: { input: 3000, output: 40 }, ...rest });
}

/** What was paid for, sorted; none where there is no archive. */
export function paidTexts(archive: string): readonly string[] {
  if (!existsSync(archive)) return [];
  const db = new Database(archive, { readonly: true });
  try {
    return db.prepare<[], string>('SELECT CAST(text AS TEXT) FROM summaries').pluck().all().toSorted();
  } finally {
    db.close();
  }
}
