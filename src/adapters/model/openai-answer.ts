import { z } from 'zod';
import type { ModelUsage, StopReason } from '../../core/model-request.ts';
import { type Answer, validate } from './answer.ts';
import { ServiceFailureError } from './service-failure.ts';

const usageSchema = z.looseObject({
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0).nullish(),
  prompt_tokens_details: z
    .looseObject({ cached_tokens: z.int().min(0).nullish() })
    .nullish()
    .catch(undefined),
});
type Usage = z.infer<typeof usageSchema>;
const contentSchema = z.looseObject({ content: z.string().nullish(), refusal: z.string().nullish() });
const envelope = { usage: usageSchema.nullish().catch(undefined) };
const chunkSchema = z.looseObject({
  ...envelope,
  choices: z
    .array(
      z.looseObject({ index: z.int().optional(), delta: contentSchema.nullish(), finish_reason: z.string().nullish() }),
    )
    .nullish(),
});
const completionSchema = z.looseObject({
  ...envelope,
  choices: z.array(z.looseObject({ message: contentSchema, finish_reason: z.string().nullish() })).min(1),
});

/** `usage` is null if the server did not report it. */
export type OpenAiAnswer = {
  readonly text: string;
  readonly stopReason: StopReason;
  readonly usage: ModelUsage | null;
};

type Draft = {
  readonly text: string;
  readonly isRefusal: boolean;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
};

/** Reads a chat completion to its end. Throws a `ServiceFailureError` if there is no finish reason. */
export async function readOpenAiAnswer(answer: Answer): Promise<OpenAiAnswer> {
  const draft = answer.kind === 'whole' ? wholeDraft(answer.value) : await streamedDraft(answer.events);
  if (draft.finishReason === null) throw new ServiceFailureError({ kind: 'no-end' });
  return {
    text: removeThinking(draft.text),
    stopReason: draft.isRefusal ? 'refusal' : toStopReason(draft.finishReason),
    usage: draft.usage === null ? null : toUsage(draft.usage),
  };
}

const NOTHING: Draft = { text: '', isRefusal: false, finishReason: null, usage: null };

function wholeDraft(value: unknown): Draft {
  const { choices, usage } = validate(completionSchema, value, 'completion');
  const [choice] = choices;
  return choice === undefined
    ? NOTHING
    : addContent({ ...NOTHING, usage: usage ?? null }, choice.message, choice.finish_reason);
}

async function streamedDraft(events: AsyncIterable<unknown>): Promise<Draft> {
  let draft = NOTHING;
  let count = 0;
  for await (const event of events) {
    count += 1;
    const { choices, usage } = validate(chunkSchema, event, 'chunk');
    if (usage !== undefined && usage !== null) draft = { ...draft, usage };
    for (const { index = 0, delta, finish_reason: reason } of choices ?? []) {
      if (index === 0) draft = addContent(draft, delta ?? {}, reason);
    }
  }
  if (count === 0) throw new ServiceFailureError({ kind: 'empty' });
  return draft;
}

function addContent(draft: Draft, body: z.infer<typeof contentSchema>, reason: string | null | undefined): Draft {
  return {
    ...draft,
    text: draft.text + (body.content ?? ''),
    isRefusal: draft.isRefusal || (body.refusal ?? '') !== '',
    finishReason: reason ?? draft.finishReason,
  };
}

/** Local servers that do not parse a model's thinking leave it at the start of the text. */
function removeThinking(text: string): string {
  return text.replace(/^\s*<think>[\s\S]*?(?:<\/think>\s*|$)/, '');
}

function toUsage({
  prompt_tokens: input,
  completion_tokens: output,
  prompt_tokens_details: details,
}: Usage): ModelUsage {
  return { input_tokens: input, output_tokens: output ?? 0, cached_input_tokens: details?.cached_tokens ?? 0 };
}

/** Servers pass on the names of the engine behind them. */
function toStopReason(reason: string): StopReason {
  switch (reason.toLowerCase()) {
    case 'stop':
    case 'eos':
    case 'eos_token':
    case 'end':
    case 'end_turn':
      return 'end_turn';
    case 'stop_sequence':
      return 'stop_sequence';
    case 'length':
    case 'max_tokens':
    case 'model_length':
      return 'max_tokens';
    case 'content_filter':
    case 'refusal':
      return 'refusal';
    case 'tool_calls':
    case 'function_call':
      return 'tool_use';
    default:
      return 'other';
  }
}
