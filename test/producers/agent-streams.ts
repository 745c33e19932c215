import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isClipArchiveText } from '../../src/core/split.ts';
import { type Fields, fieldsOf, listOf, readRecords, textOf } from './json.ts';
import { countOrphans, type Resumed, versionIn, withFolder } from './resumed.ts';

type ClaudeSdk = {
  readonly query: (request: {
    readonly prompt: string;
    readonly options: { readonly pathToClaudeCodeExecutable: string; readonly executable: 'node' };
  }) => AsyncIterable<Fields>;
};

type CodexSdk = {
  readonly Codex: new (options: { readonly codexPathOverride: string; readonly apiKey: string }) => {
    readonly startThread: (options: { readonly skipGitRepoCheck: true }) => {
      readonly runStreamed: (prompt: string) => Promise<{ readonly events: AsyncIterable<Fields> }>;
    };
  };
};

/** A program in Claude Code's place that prints the log. */
const CLAUDE = `import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id } = JSON.parse(line);
  const response = { subtype: 'success', request_id, response: { commands: [], models: [], account: {} } };
  if (type === 'control_request') process.stdout.write(JSON.stringify({ type: 'control_response', response }) + '\\n');
  if (type !== 'user') continue;
  process.stdout.write(readFileSync(new URL('log.jsonl', import.meta.url)), () => process.exit());
}
`;

/** A program in Codex's place that prints the log. */
const CODEX = '#!/bin/sh\ncat > /dev/null\ncat "$(dirname "$0")/log.jsonl"\n';

/** Has the Claude Agent SDK read a compacted log, as if Claude Code printed it. */
export async function checkClaudeStream(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const root = join(producersFolder, 'claude-agent-sdk/node_modules/@anthropic-ai/claude-agent-sdk');
  const { query }: ClaudeSdk = await import(pathToFileURL(join(root, 'sdk.mjs')).href);
  return readBack(compactedFile, root, {
    program: ['claude.mjs', CLAUDE],
    read: async (program) =>
      query({ prompt: 'hello', options: { pathToClaudeCodeExecutable: program, executable: 'node' } }),
    textOf: ({ message }) => textOf(fieldsOf(message)['content']),
    idsOf: ({ message }) => {
      const blocks = listOf(fieldsOf(message)['content']);
      return {
        calls: blocks.filter(({ type }) => type === 'tool_use').flatMap(({ id }) => textOf(id) ?? []),
        results: blocks.flatMap(({ tool_use_id: id }) => textOf(id) ?? []),
      };
    },
  });
}

/** Has the Codex SDK read a compacted log, as if Codex printed it. */
export async function checkCodexExec(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const root = join(producersFolder, 'codex-sdk/node_modules/@openai/codex-sdk');
  const { Codex }: CodexSdk = await import(pathToFileURL(join(root, 'dist/index.js')).href);
  return readBack(compactedFile, root, {
    program: ['codex', CODEX],
    read: async (program) => {
      const codex = new Codex({ codexPathOverride: program, apiKey: 'not-a-key' });
      return (await codex.startThread({ skipGitRepoCheck: true }).runStreamed('hello')).events;
    },
    textOf: ({ item }) => textOf(fieldsOf(item)['text']),
    // Ids of items begin again in every run, and some items have no beginning.
    idsOf: () => ({ calls: [], results: [] }),
  });
}

type Reading = {
  /** Its name and content. */
  readonly program: readonly [string, string];
  readonly read: (program: string) => Promise<AsyncIterable<Fields>>;
  readonly textOf: (record: Fields) => string | undefined;
  readonly idsOf: (record: Fields) => { readonly calls: readonly string[]; readonly results: readonly string[] };
};

/** The SDK must pass on every record of the log. Neither reads lines of other programs, so they are taken out first. */
async function readBack(compactedFile: string, root: string, reading: Reading): Promise<Resumed> {
  const version = versionIn(root);
  return withFolder('read-back-', async (folder) => {
    const text = readFileSync(compactedFile, 'utf8').replace('\uFEFF', '');
    const records = readRecords(Buffer.from(text));
    writeFileSync(join(folder, 'log.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const [name, program] = reading.program;
    writeFileSync(join(folder, name), program);
    chmodSync(join(folder, name), 0o755);
    const seen: Fields[] = [];
    for await (const record of await reading.read(join(folder, name))) seen.push(record);
    const lost = records.filter(({ type }, index) => seen[index]?.['type'] !== type).length;
    const ids = seen.map(reading.idsOf);
    return {
      resumed: seen.length > 0,
      summaryFound: seen.some((record) => isClipArchiveText(reading.textOf(record) ?? '')),
      messages: seen.length,
      orphans: countOrphans(
        ids.flatMap(({ calls }) => calls),
        ids.flatMap(({ results }) => results),
      ),
      rewritten: false,
      version,
      ...(lost > 0 && { detail: `${lost} of ${records.length} records did not arrive` }),
    };
  });
}
