import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsOf, listOf, parseFields, textOf } from './json.ts';
import { judgeRun, PROMPT, readMessagesRequest } from './judge-run.ts';
import { runOffline } from './offline.ts';
import { type Resumed, versionIn, withFolder } from './resumed.ts';

// It is started three times.
const TIMEOUT_MS = 270_000;

type Limit = { readonly context: number; readonly output: number };

/** OpenCode with the mock as its only model, and without what it would look for in a network. */
export function openCodeEnvironment(limit: Limit): Readonly<Record<string, string>> {
  const provider = { npm: '@ai-sdk/anthropic', options: { baseURL: 'MODEL_URL/v1', apiKey: 'not-a-key' } };
  const config = {
    model: 'mock/mock',
    autoupdate: false,
    share: 'disabled',
    provider: { mock: { ...provider, models: { mock: { limit } } } },
  };
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    // It tries to fetch a package, and plugins wait until it has given up.
    npm_config_fetch_retries: '0',
  };
}

/** Imports a compacted export into the OpenCode that is installed under `producersFolder`, in a home of its own, and goes on with the session. */
export async function checkOpenCode(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const packages = join(producersFolder, 'opencode/node_modules');
  const version = versionIn(join(packages, 'opencode-ai'));
  const compacted = readExport(readFileSync(compactedFile, 'utf8'));
  return withFolder('resume-opencode-', async (home) => {
    const work = join(home, 'work');
    mkdirSync(work);
    copyFileSync(compactedFile, join(home, 'session.json'));
    const script = `"$0" import ../session.json && "$0" run --model mock/mock --session "$1" "$2" && "$0" export "$1" > ../after.json`;
    const run = await runOffline({
      command: 'sh',
      args: ['-c', script, join(packages, '.bin/opencode'), compacted.id, PROMPT],
      cwd: work,
      env: { ...openCodeEnvironment({ context: 200_000, output: 8192 }), HOME: home },
      timeoutMs: TIMEOUT_MS,
    });
    const after = run.code === 0 ? readExport(readFileSync(join(home, 'after.json'), 'utf8')).messages : '';
    const sent = readMessagesRequest(run.asked);
    return judgeRun({
      run,
      before: Buffer.from(compacted.messages),
      after: Buffer.from(after),
      summary: compacted.summary,
      sent,
      version,
    });
  });
}

/** Its messages one per line, without what an import sets anew, and the text of its latest summary. */
function readExport(text: string) {
  const { info, messages } = parseFields(text) ?? {};
  const all = listOf(messages);
  const summaries = all.filter((message) => fieldsOf(message['info'])['summary'] === true);
  const texts = listOf(summaries.at(-1)?.['parts']).flatMap((part) => textOf(part['text']) ?? []);
  return {
    id: textOf(fieldsOf(info)['id']) ?? 'no-session',
    messages: all.map((message) => `${JSON.stringify(message['parts'])}\n`).join(''),
    summary: texts.at(-1),
  };
}
