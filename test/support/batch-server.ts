import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { bodyCheck } from './model-server/schemas.ts';

/** What a batch makes of a request. */
export type Fate = 'succeeded' | 'errored' | 'invalid' | 'expired' | 'canceled' | 'lost';
type Body = Readonly<Record<string, unknown>>;
type Asked = { readonly customId: string; readonly body: Body };
type Result = Asked & { readonly fate: Fate };

type Batch = {
  readonly id: string;
  readonly asked: readonly Asked[];
  readonly createdMs: number;
  readonly metadata: unknown;
  status: 'running' | 'canceling' | 'ended';
  results: readonly Result[];
  isDeleted: boolean;
  /** Why the provider refused it as a whole; null: it did not. */
  refusal: string | null;
};

export type BatchServer = {
  /** Without a path, like that of `serveModels`. */
  readonly url: string;
  readonly batches: readonly Batch[];
  /** How often each request was answered, which is what costs. */
  readonly paid: ReadonlyMap<string, number>;
  /** Ends all batches that run, with results in another order than that of the requests. */
  readonly finish: (fate?: (asked: Asked, at: number) => Fate) => void;
  /** Ends all batches that run without a result, as OpenAI does with a file that it cannot use. */
  readonly refuse: (why: string) => void;
  /** Answers that nobody asked for, in the next batch that ends. */
  readonly addStranger: (customId: string) => void;
  /** What happens to the next batches: created, but the answer is lost; or refused with a status. */
  readonly faults: ('lose-answer' | 400 | 401 | 500)[];
  readonly deleteResults: () => void;
  /** Batches that another program created, newer than those before. */
  readonly addForeign: (count: number, requests: number) => void;
  /** The list comes in pages of this size. One of them fails once. */
  readonly pages: { size: number; failing: number | null; asked: number };
  /** Whether to behave as for the key of another account. */
  readonly hide: (isHidden: boolean) => void;
  readonly close: () => Promise<void>;
};

/** Where a client may be killed: its upload has begun; a batch was created; the state of one was asked for; half of the results were sent. */
export const MOMENTS = ['uploading', 'created', 'polled', 'downloading'] as const;
export type Moment = (typeof MOMENTS)[number];

type ServerOptions = {
  /** The text of the answer to a request. */
  readonly reply: (body: Body) => string;
  readonly now: () => Date;
  /** The server goes on when it resolves. */
  readonly onMoment?: (moment: Moment) => Promise<void>;
};

/** A server on loopback that speaks the batch APIs of Anthropic and of OpenAI. Batches end when the test says so. */
export async function serveBatches({
  reply,
  now,
  onMoment = async () => undefined,
}: ServerOptions): Promise<BatchServer> {
  const batches: Batch[] = [];
  const files = new Map<string, string>();
  const paid = new Map<string, number>();
  const faults: BatchServer['faults'] = [];
  const strangers: string[] = [];

  const pages: BatchServer['pages'] = { size: 100, failing: null, asked: 0 };
  const list = (answer: Answer, { after }: Call, show: (batch: Batch) => unknown): void => {
    pages.asked += 1;
    const all = visible().toReversed();
    const from = all.findIndex(({ id }) => id === after) + 1;
    if (pages.failing !== null && from === pages.failing * pages.size) {
      pages.failing = null;
      return answer.error(500, 'the page failed');
    }
    const page = all.slice(from, from + pages.size);
    const [first, last] = [page[0]?.id ?? null, page.at(-1)?.id ?? null];
    answer.json({ data: page.map(show), has_more: from + pages.size < all.length, first_id: first, last_id: last });
  };

  const begin = (asked: readonly Asked[], metadata: unknown): Batch => {
    const batch: Batch = {
      id: `batch_${batches.length + 1}`,
      asked,
      createdMs: now().getTime(),
      metadata,
      status: 'running',
      results: [],
      isDeleted: false,
      refusal: null,
    };
    batches.push(batch);
    return batch;
  };
  const finish: BatchServer['finish'] = (fate = () => 'succeeded') => {
    for (const batch of batches.filter(({ status }) => status !== 'ended')) {
      const isCanceled = batch.status === 'canceling';
      batch.results = batch.asked
        .map((one, at): Result => {
          const given = fate(one, at);
          return { ...one, fate: isCanceled && given !== 'succeeded' ? 'canceled' : given };
        })
        .toReversed()
        .concat(strangers.splice(0).map((customId) => ({ customId, body: {}, fate: 'succeeded' })));
      for (const { customId, fate: one } of batch.results)
        if (one === 'succeeded') paid.set(customId, (paid.get(customId) ?? 0) + 1);
      batch.status = 'ended';
    }
  };
  const refuse: BatchServer['refuse'] = (refusal) => {
    for (const batch of batches.filter(({ status }) => status !== 'ended'))
      Object.assign(batch, { status: 'ended', refusal });
  };
  const account = { isHidden: false };
  const visible = (): readonly Batch[] => (account.isHidden ? [] : batches);
  const find = (id: string | undefined): Batch | undefined =>
    visible().find((batch) => batch.id === id && !batch.isDeleted);

  const create = async (answer: Answer, asked: readonly Asked[], { metadata, show }: Creation): Promise<void> => {
    const fault = faults.shift();
    if (typeof fault === 'number') return answer.error(fault, 'refused by the test');
    const batch = begin(asked, metadata);
    await onMoment('created');
    if (fault === 'lose-answer') answer.destroy();
    else answer.json(show(batch));
  };

  const anthropic = async (answer: Answer, call: Call): Promise<void> => {
    const { method, parts, body } = call;
    const [id, action] = parts;
    const batch = find(id);
    if (method === 'POST' && id === undefined) {
      const { requests }: { requests: readonly { custom_id: string; params: Body }[] } = JSON.parse(body.toString());
      const problems = requests.flatMap(({ custom_id: customId, params }) => [
        ...(/^[a-zA-Z0-9_-]{1,64}$/.test(customId) ? [] : [`custom_id ${customId}`]),
        ...bodyCheck('anthropic')({ ...params, stream: true }),
      ]);
      if (problems.length > 0) return answer.error(400, problems.join('; '));
      const asked = requests.map(({ custom_id: customId, params }) => ({ customId, body: params }));
      return create(answer, asked, { metadata: null, show: showAnthropic });
    }
    if (id === undefined) return list(answer, call, showAnthropic);
    if (batch === undefined) return answer.error(404, 'no such batch');
    if (action === 'cancel' && batch.status === 'running') batch.status = 'canceling';
    if (action === undefined) await onMoment('polled');
    if (action !== 'results') return answer.json(showAnthropic(batch));
    const wanted = batch.results.filter(({ fate }) => fate !== 'lost');
    return answer.lines(wanted.map((one) => anthropicLine(one, reply)));
  };

  const openai = async (answer: Answer, call: Call): Promise<void> => {
    const { method, parts, body, type } = call;
    const [what, id, action] = parts;
    if (what === 'files' && method === 'POST') {
      const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
      const file = form.get('file');
      if (!(file instanceof File) || form.get('purpose') !== 'batch') return answer.error(400, 'no file for a batch');
      const name = `file_${files.size + 1}`;
      files.set(name, await file.text());
      return answer.json({ id: name, object: 'file', filename: file.name });
    }
    if (what === 'files') {
      const [batchId, kind] = (id ?? '').split('.');
      const results = find(batchId)?.results ?? null;
      if (results === null) return answer.error(404, 'no such file');
      const wanted = results.filter(({ fate }) => fate !== 'lost' && (fate === 'succeeded') === (kind === 'output'));
      return answer.lines(wanted.map((one) => openaiLine(one, reply)));
    }
    if (method === 'POST' && id === undefined) {
      const wish: Readonly<Record<string, unknown>> = JSON.parse(body.toString());
      const lines = (files.get(String(wish['input_file_id'])) ?? '').split('\n').filter((line) => line !== '');
      const asked = lines.map((line): Asked => {
        const one: { custom_id: string; body: Body } = JSON.parse(line);
        return { customId: one.custom_id, body: one.body };
      });
      const problems = asked.flatMap((one) => bodyCheck('openai')({ ...one.body, stream: true }));
      if (asked.length === 0 || problems.length > 0) return answer.error(400, `bad lines: ${problems.join('; ')}`);
      return create(answer, asked, { metadata: wish['metadata'], show: showOpenAi });
    }
    if (id === undefined) return list(answer, call, showOpenAi);
    const batch = find(id);
    if (batch === undefined) return answer.error(404, 'no such batch');
    if (action === 'cancel' && batch.status === 'running') batch.status = 'canceling';
    if (action === undefined) await onMoment('polled');
    return answer.json(showOpenAi(batch));
  };

  const server = createServer((incoming, response) => {
    const handle = async (): Promise<void> => {
      const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://localhost');
      if (incoming.method === 'POST') await onMoment('uploading');
      const after = searchParams.get('after_id') ?? searchParams.get('after');
      const call = { ...(await readCall(incoming, pathname)), after };
      const answer = answerOn(response, () => onMoment('downloading'));
      if (pathname.startsWith('/v1/messages/batches')) await anthropic(answer, { ...call, parts: call.parts.slice(2) });
      else await openai(answer, call);
    };
    handle().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', () => resolve());
  await listening;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    batches,
    paid,
    finish,
    refuse,
    addStranger: (customId) => void strangers.push(customId),
    faults,
    deleteResults: () => {
      for (const batch of batches) batch.isDeleted = true;
    },
    addForeign: (count, requests) => {
      for (let at = 0; at < count; at += 1) {
        const idOf = (_: unknown, nth: number): Asked => ({ customId: `foreign-${batches.length}-${nth}`, body: {} });
        begin(Array.from({ length: requests }, idOf), null);
      }
    },
    pages,
    hide: (isHidden) => {
      account.isHidden = isHidden;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

type Creation = { readonly metadata: unknown; readonly show: (batch: Batch) => unknown };
type Call = {
  readonly method: string;
  /** Of the path, behind `/v1`. */
  readonly parts: readonly string[];
  readonly body: Buffer;
  readonly type: string;
  /** The last batch of the page before. */
  readonly after: string | null;
};

async function readCall(incoming: IncomingMessage, pathname: string): Promise<Omit<Call, 'after'>> {
  const parts = pathname.split('/').slice(2);
  const type = incoming.headers['content-type'] ?? '';
  return { method: incoming.method ?? '', parts, body: await buffer(incoming), type };
}

type Answer = {
  readonly json: (value: unknown) => void;
  readonly lines: (values: readonly unknown[]) => Promise<void>;
  readonly error: (status: number, message: string) => void;
  readonly destroy: () => void;
};

function answerOn(response: ServerResponse, onHalf: () => Promise<void>): Answer {
  const send = (status: number, type: string, text: string): void => {
    response.writeHead(status, { 'content-type': type });
    response.end(text);
  };
  return {
    json: (value) => send(200, 'application/json', JSON.stringify(value)),
    lines: async (values) => {
      const half = Math.floor(values.length / 2);
      response.writeHead(200, { 'content-type': 'application/x-jsonl' });
      response.write(linesOf(values.slice(0, half)));
      await onHalf();
      response.end(linesOf(values.slice(half)));
    },
    error: (status, message) =>
      send(
        status,
        'application/json',
        JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
      ),
    destroy: () => response.destroy(),
  };
}

function linesOf(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function countOf(batch: Batch, fates: readonly Fate[]): number {
  return batch.results.filter(({ fate }) => fates.includes(fate)).length;
}

function showAnthropic(batch: Batch): unknown {
  const { id, status, createdMs, asked } = batch;
  return {
    id,
    type: 'message_batch',
    processing_status: status === 'running' ? 'in_progress' : status,
    created_at: new Date(createdMs).toISOString(),
    expires_at: new Date(createdMs + 86_400_000).toISOString(),
    ended_at: null,
    archived_at: null,
    cancel_initiated_at: null,
    results_url: status === 'ended' ? 'https://elsewhere.example/results' : null,
    request_counts: {
      processing: status === 'ended' ? 0 : asked.length,
      succeeded: countOf(batch, ['succeeded']),
      errored: countOf(batch, ['errored', 'invalid']),
      canceled: countOf(batch, ['canceled']),
      expired: countOf(batch, ['expired', 'lost']),
    },
  };
}

function showOpenAi({ id, status, createdMs, metadata, refusal }: Batch): unknown {
  const ended = { status: 'completed', completed_at: Math.floor(createdMs / 1000) + 60 };
  return {
    id,
    object: 'batch',
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    created_at: Math.floor(createdMs / 1000),
    metadata,
    ...(status === 'ended' ? ended : { status: status === 'canceling' ? 'cancelling' : 'in_progress' }),
    ...(refusal !== null && { status: 'failed', errors: { object: 'list', data: [{ message: refusal }] } }),
    ...(status === 'ended' && refusal === null && { output_file_id: `${id}.output`, error_file_id: `${id}.error` }),
  };
}

const ERRORS = {
  errored: { type: 'api_error', message: 'overloaded' },
  invalid: { type: 'invalid_request_error', message: 'the request is not allowed' },
} as const;

function anthropicLine({ customId, fate, body }: Result, reply: ServerOptions['reply']): unknown {
  const result = (): unknown => {
    if (fate === 'errored' || fate === 'invalid')
      return { type: 'errored', error: { type: 'error', error: ERRORS[fate], request_id: null } };
    if (fate !== 'succeeded') return { type: fate };
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: reply(body) }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3000, output_tokens: 40 },
    };
    return { type: 'succeeded', message };
  };
  return { custom_id: customId, result: result() };
}

function openaiLine({ customId, fate, body }: Result, reply: ServerOptions['reply']): unknown {
  const line = { id: 'batch_req_1', custom_id: customId, response: null, error: null };
  if (fate === 'succeeded') {
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: reply(body) } }];
    const usage = { prompt_tokens: 3000, completion_tokens: 40 };
    return {
      ...line,
      response: { status_code: 200, request_id: 'r', body: { object: 'chat.completion', choices, usage } },
    };
  }
  if (fate === 'errored' || fate === 'invalid')
    return {
      ...line,
      response: { status_code: fate === 'errored' ? 500 : 400, request_id: 'r', body: { error: ERRORS[fate] } },
    };
  const code = fate === 'canceled' ? 'batch_cancelled' : 'batch_expired';
  return { ...line, error: { code, message: 'This request was not executed.' } };
}
