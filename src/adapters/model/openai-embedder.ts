import type { Embedder, Embedding, EmbedRequest } from '../../ports/embedder.ts';
import { askAdapting, callService } from './call-service.ts';
import { readEmbeddings } from './embeddings-answer.ts';
import type { Fault } from './fault.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { ADVICE } from './openai-advice.ts';
import { classifyOpenAi } from './openai-errors.ts';
import { serviceError } from './service-error.ts';
import { openService, type ReachableService, requestHeaders, type ServiceOptions } from './service.ts';
import { namesUnsupported } from './unsupported.ts';

export type OpenAiEmbedderOptions = Omit<ServiceOptions, 'log'> & {
  readonly flavor: 'openai' | 'ollama';
  readonly model: string;
  /** Numbers in a vector, asked for and insisted on; null: as many as the model gives. */
  readonly dimensions: number | null;
};

/** As many as the index of vectors can hold. */
const MAX_DIMENSIONS = 8192;

type Form = { readonly namesDimensions: boolean };

/** Embeddings by any server that speaks OpenAI's API; `baseUrl` is what stands before `/embeddings`. No vendor's library is loaded for one request. */
export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const opened = openService(options, ADVICE[options.flavor]);
  if (!opened.ok) return { embed: () => Promise.reject(opened.error) };
  const reached = opened.value;
  const state: { form: Form } = { form: { namesDimensions: options.dimensions !== null } };
  return {
    embed: (request, signal) =>
      callService(
        { service: reached.service, classify: classifyOpenAi },
        { timeoutMs: request.timeoutMs, signal, lateAdvice: 'is the server busy with something else?' },
        (own) => askAdapting(state, (form) => ask(reached, { options, request, form, signal: own }), learnForm),
      ),
  };
}

type Asked = {
  readonly options: OpenAiEmbedderOptions;
  readonly request: EmbedRequest;
  readonly form: Form;
  readonly signal: AbortSignal;
};

async function ask({ base, key, service }: ReachableService, asked: Asked): Promise<Embedding> {
  const { model, dimensions } = asked.options;
  const { texts } = asked.request;
  const body = { model, input: texts, ...(asked.form.namesDimensions ? { dimensions } : {}) };
  const fetchGuarded = createGuardedFetch(requestHeaders(key));
  const response = await fetchGuarded(`${base.url}/embeddings`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: asked.signal,
  });
  const answer = await readEmbeddings(response, texts.length);
  const given = answer.vectors[0]?.length ?? 0;
  if (given > MAX_DIMENSIONS) {
    throw serviceError(service, `sent vectors of ${given} numbers, and no more than ${MAX_DIMENSIONS} can be kept`, {
      code: 'api_error',
      retryable: false,
      advice: 'name another model, or say dimensions',
    });
  }
  if (dimensions === null || given === dimensions) return answer;
  throw serviceError(service, `sent vectors of ${given} numbers where dimensions says ${dimensions}`, {
    code: 'api_error',
    retryable: false,
    advice: `say dimensions = ${given}, or leave it out`,
  });
}

/** Models of one size refuse to be asked for it; what they then send is looked at. */
function learnForm(used: Form, fault: Fault): Partial<Form> | null {
  return used.namesDimensions && namesUnsupported(fault, ['dimensions']) ? { namesDimensions: false } : null;
}
