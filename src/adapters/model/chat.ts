import type { ModelError, ModelRequest, ModelResponse, ModelUsage, StopReason } from '../../core/model-request.ts';
import type { Result } from '../../core/result.ts';
import { estimateTokensByBytes } from '../../core/tokens.ts';
import type { ModelProvider } from '../../ports/model.ts';
import { type Answer, openAnswer } from './answer.ts';
import { type ServiceFailure, ServiceFailureError } from './service-failure.ts';
import { askAdapting, callService, type Service } from './service.ts';

/** What distinguishes the API of a vendor. `Form` is the form in which a server takes requests, as far as is known. */
export type ChatApi<Form extends object, Body extends object = object, Usage = unknown> = {
  readonly service: Service;
  readonly firstForm: Form;
  /** What to change after a refusal that names one of our parameters; null: nothing. Each change is made at most once. */
  readonly adapt: (used: Form, failure: ServiceFailure) => Partial<Form> | null;
  readonly buildBody: (request: ModelRequest, form: Form) => Body;
  readonly post: (body: Body, signal: AbortSignal) => PromiseLike<Parameters<typeof openAnswer>[0]>;
  readonly reader: AnswerReader<Usage>;
  /** The texts of a request, which are counted if the server does not count. */
  readonly textsOf: (body: Body) => readonly string[];
  /** Throws if an answer cannot be to the whole request. */
  readonly check?: (sent: readonly string[], usage: ModelUsage) => void;
};

/** An answer as far as it was read. */
export type Draft<Usage> = {
  readonly text: string;
  /** In the words of the API; null: none yet. */
  readonly reason: string | null;
  readonly isRefusal?: boolean;
  /** The stream said that nothing follows. */
  readonly hasEnded: boolean;
  readonly usage: Usage | null;
};

export type AnswerReader<Usage> = {
  readonly whole: (value: unknown) => Draft<Usage>;
  /** The draft with one more event of the stream; null: nothing of the answer has come. */
  readonly add: (draft: Draft<Usage> | null, event: unknown) => Draft<Usage> | null;
  readonly toUsage: (usage: Usage) => ModelUsage;
  /** Removes from the whole text what is no part of the answer. */
  readonly clean?: (text: string) => string;
};

/** Summaries by one vendor's API. */
export function createChatProvider<Form extends object, Body extends object, Usage>(
  opened: Result<ChatApi<Form, Body, Usage>, ModelError>,
): ModelProvider {
  if (!opened.ok) return { complete: () => Promise.reject(opened.error) };
  const api = opened.value;
  const state = { form: api.firstForm };
  return {
    complete: (request, signal) =>
      callService(api.service, { timeoutMs: request.timeout, signal }, (own) => {
        const ask = async (form: Form): Promise<ModelResponse> => {
          const body = api.buildBody(request, form);
          return readAnswer(api, await openAnswer(await api.post(body, own)), api.textsOf(body));
        };
        return askAdapting(state, ask, api.adapt);
      }),
  };
}

/** Reads an answer to its end. Throws a `ServiceFailureError` if the end is missing. The API key is masked in it. */
export async function readAnswer<Usage>(
  { reader, check, service }: Pick<ChatApi<object, object, Usage>, 'reader' | 'check' | 'service'>,
  answer: Answer,
  sent: readonly string[],
): Promise<ModelResponse> {
  const draft = answer.kind === 'whole' ? reader.whole(answer.value) : await readEvents(reader, answer.events);
  const { reason, isRefusal, hasEnded } = draft;
  if (reason === null || !hasEnded) throw new ServiceFailureError({ kind: 'no-end' });
  const text = reader.clean?.(draft.text) ?? draft.text;
  const known = STOP_REASONS.find(([, names]) => names.includes(reason.toLowerCase()))?.[0] ?? 'other';
  const usage = draft.usage === null ? null : reader.toUsage(draft.usage);
  if (usage !== null) check?.(sent, usage);
  return {
    content: text === '' ? [] : [{ type: 'text', text: service.mask.maskAnswer(text) }],
    stop_reason: isRefusal === true ? 'refusal' : known,
    usage: usage ?? { input_tokens: sizeOf(sent), output_tokens: sizeOf([text]), isEstimate: true },
  };
}

async function readEvents<Usage>(reader: AnswerReader<Usage>, events: AsyncIterable<unknown>): Promise<Draft<Usage>> {
  let draft: Draft<Usage> | null = null;
  for await (const event of events) draft = reader.add(draft, event);
  if (draft === null) throw new ServiceFailureError({ kind: 'empty' });
  return draft;
}

/** Estimated tokens. */
export function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokensByBytes(text), 0);
}

/** Servers pass on the names of the engine behind them. */
const STOP_REASONS: readonly (readonly [StopReason, readonly string[]])[] = [
  ['end_turn', ['stop', 'eos', 'eos_token', 'end', 'end_turn']],
  ['stop_sequence', ['stop_sequence']],
  // Whatever the limit, smaller chunks help.
  ['max_tokens', ['length', 'max_tokens', 'model_length', 'model_context_window_exceeded']],
  ['refusal', ['content_filter', 'refusal']],
  ['tool_use', ['tool_calls', 'tool_use', 'function_call']],
];
