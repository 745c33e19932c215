import { type Fields, listOf, parseFields, textOf } from './json.ts';
import { ANSWER, type Asked } from './mock-model.ts';
import type { OfflineRun } from './offline.ts';
import { countOrphans, lastWords, type Resumed } from './resumed.ts';

export type { Asked };

/** What a program is told after it has taken up a session. */
export const PROMPT = 'a prompt that nobody has typed before';

/** What was sent to a model, as far as it is looked at. */
export type SentMessages = {
  readonly count: number;
  readonly texts: readonly string[];
  readonly calls: readonly string[];
  readonly results: readonly string[];
};

export type RunEvidence = {
  readonly run: OfflineRun;
  /** The file before the program had it, and after. */
  readonly before: Buffer;
  readonly after: Buffer;
  /** The text of the latest summary in the file. */
  readonly summary: string | undefined;
  readonly sent: SentMessages;
  readonly version: string;
};

/** What a run of a program says of the file that it was to take up. */
export function judgeRun({ run, before, after, summary, sent, version }: RunEvidence): Resumed {
  const isAnswered = run.code === 0 && run.stdout.includes(ANSWER) && sent.count > 0;
  const resumed = isAnswered && after.subarray(before.length).includes(ANSWER);
  const detail = [
    ...(resumed ? [] : [`exit code ${run.code}`, lastWords(run.stdout, run.stderr)]),
    ...(run.isIsolated ? [] : ['not in a network namespace of its own']),
  ].join('; ');
  return {
    resumed,
    summaryFound: summary !== undefined && sent.texts.some((text) => text.includes(summary)),
    messages: sent.count,
    orphans: countOrphans(sent.calls, sent.results),
    rewritten: !after.subarray(0, before.length).equals(before),
    version,
    ...(detail !== '' && { detail }),
  };
}

/** The request to the Messages API that has the prompt in it; of several the longest, since programs ask for other things beside. */
export function readMessagesRequest(asked: readonly Asked[]): SentMessages {
  const messages =
    asked
      .filter(({ path, body }) => path.endsWith('/v1/messages') && body.includes(PROMPT))
      .map(({ body }) => listOf(parseFields(body)?.['messages']))
      .toSorted((a, b) => b.length - a.length)[0] ?? [];
  const blocks = messages.flatMap(blocksOf);
  return {
    count: messages.length,
    texts: blocks.flatMap((block) => textOf(block['text']) ?? []),
    calls: idsOf(blocks, 'tool_use', 'id'),
    results: idsOf(blocks, 'tool_result', 'tool_use_id'),
  };
}

function blocksOf({ content }: Fields): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
}

function idsOf(blocks: readonly Fields[], type: string, key: string): readonly string[] {
  return blocks.filter((block) => block['type'] === type).flatMap((block) => textOf(block[key]) ?? []);
}
