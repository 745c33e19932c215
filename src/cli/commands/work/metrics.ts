import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { JobOutcome } from '../../../app/jobs/work.ts';
import type { ArchiveGauges } from '../../../app/search/list-archive.ts';
import { isLoopback } from '../../../config/access.ts';
import { err, ok, systemCode } from '../../../core/result.ts';
import type { QueueStatus } from '../../../ports/queue.ts';
import type { RunTotals } from '../../render/compact.ts';

/** Where the numbers come from. The methods may take long, and reject, while the database is away. */
export type MetricsSource = {
  /** What this worker has done so far. */
  readonly totals: () => RunTotals;
  /** Null: the queue is not open yet. */
  readonly status: () => Promise<QueueStatus | null>;
  readonly archive: () => Promise<ArchiveGauges | null>;
  /** How long a request waits for them. */
  readonly deadline?: () => Promise<unknown>;
};

/**
 * Serves /metrics as Prometheus reads it, /healthz (the worker lives) and /readyz (it is connected to its archive). `place`: '127.0.0.1:9464' or
 * '[::1]:9464'. An error is a clause.
 */
export async function serveMetrics(place: string, source: MetricsSource) {
  const registry = new Registry();
  const state = createState(source);
  const seconds = new Histogram({
    name: 'compact_job_seconds',
    help: 'How long jobs took, by what became of them',
    labelNames: ['outcome'],
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 1800],
    registers: [registry],
  });
  for (const { name, help, by, isGauge, of } of METRICS) {
    const common = { name, help, labelNames: by === undefined ? [] : [by], registers: [registry] };
    // The registry calls it when it is asked for its text.
    const collect = (): void => {
      metric.reset();
      const read = of(source.totals(), state.latest);
      if (read === null && by === undefined) metric.remove(); // instead of 0
      const values: Numbers = typeof read === 'number' ? { '': read } : (read ?? {});
      for (const [label, value] of Object.entries(values)) metric.inc(by === undefined ? {} : { [by]: label }, value);
    };
    const metric: Counter | Gauge =
      isGauge === true ? new Gauge({ ...common, collect }) : new Counter({ ...common, collect });
  }
  const host = hostOf(place);
  const respond = async ({ method, url, headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const send = (status: number, text: string, type = 'text/plain; charset=utf-8'): void =>
      void response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(text);
    if (method !== 'GET' && method !== 'HEAD') return send(405, 'Only GET and HEAD.\n');
    const at = server.address();
    // Only programs of this machine shall ask there, and no web page whose name was made to lead to it (DNS rebinding).
    if (at !== null && typeof at === 'object' && isLoopback(at.address) && !namesThisMachine(headers.host, host))
      return send(403, 'Name this machine by its address.\n');
    const path = /^[^?]*/.exec(url ?? '')?.[0];
    if (path === '/healthz') return send(200, 'ok\n');
    if (path === '/readyz') return (await state.refresh()) ? send(200, 'ready\n') : send(503, 'not connected\n');
    if (path !== '/metrics') return send(404, 'There are /metrics, /healthz and /readyz.\n');
    await state.refresh();
    send(200, await registry.metrics(), registry.contentType);
  };
  const port = Number(/\d+$/.exec(place)?.[0]);
  const server = createServer(
    { requestTimeout: SLOWEST_REQUEST_MS, connectionsCheckingInterval: SLOWEST_REQUEST_MS / 2 },
    // A worker must not end with a connection.
    (request, response) => void respond(request, response).catch(() => response.destroy()),
  );
  server.maxConnections = MAX_CONNECTIONS;
  const listening = new Promise<string | null>((resolve) => {
    server.on('error', (error) => resolve(describeProblem(error, place)));
    server.listen(port, host, () => resolve(null));
  });
  const problem = await listening;
  if (problem !== null) return err(problem);
  const bound = server.address();
  return ok({
    /** http://127.0.0.1:9464 */
    address: `http://${place.replace(/\d+$/, `${typeof bound === 'object' ? bound?.port : port}`)}`,
    jobEnded: (outcome: JobOutcome['kind'], duration: number) => seconds.observe({ outcome }, duration),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

const SLOWEST_REQUEST_MS = 10_000;
const MAX_CONNECTIONS = 100;

/** '[::1]:9464' → '::1' */
function hostOf(place: string): string {
  return place.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
}

/** `asked`: as in the header Host, which every browser sends. */
function namesThisMachine(asked: string | undefined, host: string): boolean {
  const name = asked === undefined ? host : hostOf(asked).toLowerCase();
  return isIP(name) > 0 || name === 'localhost' || name === host.toLowerCase();
}

function describeProblem(error: Error, place: string): string {
  const code = systemCode(error);
  if (code === 'EADDRINUSE') return `another program uses ${place} already: give --metrics another port`;
  return `nobody can listen at ${place} (${code ?? error.message}): give --metrics another host or port`;
}

type Latest = { readonly jobs: QueueStatus | null; readonly archive: ArchiveGauges | null };

const DEADLINE_MS = 2000;

/** Asks the database once at a time, however many ask here. */
function createState({ status, archive, deadline }: MetricsSource) {
  const wait = deadline ?? (() => setTimeout(DEADLINE_MS, undefined, { ref: false }));
  const latest: { -readonly [Key in keyof Latest]: Latest[Key] } = { jobs: null, archive: null };
  const state: { asking: Promise<boolean> | null } = { asking: null };
  const ask = async (): Promise<boolean> => {
    try {
      const jobs = await status();
      if (jobs !== null) Object.assign(latest, { jobs, archive: await archive() });
      return jobs !== null;
    } catch {
      return false; // the worker itself tells what is wrong
    } finally {
      state.asking = null;
    }
  };
  return {
    latest,
    /** False: there is no answer in time. */
    refresh: async (): Promise<boolean> => {
      state.asking ??= ask();
      return Promise.race([state.asking, wait().then(() => false)]);
    },
  };
}

type Numbers = Readonly<Record<string, number>>;
/** `by`: the label that tells its values apart. `of` null: unknown now. */
type Described = {
  readonly name: string;
  readonly help: string;
  readonly by?: string;
  readonly isGauge?: true;
  readonly of: (totals: RunTotals, latest: Latest) => number | Numbers | null;
};

const METRICS: readonly Described[] = [
  {
    name: 'compact_jobs',
    help: 'Jobs in the queue by state, for all workers; those done in the last seven days',
    by: 'state',
    isGauge: true,
    of: (_, { jobs }) => jobs && { open: jobs.open, active: jobs.active, done: jobs.done, failed: jobs.failed },
  },
  {
    name: 'compact_transcripts_total',
    help: 'Transcripts of this worker by result',
    by: 'result',
    of: ({ compacted, failed, skipped }) => ({
      compacted,
      failed,
      skipped: skipped.values().reduce((sum, count) => sum + count, 0),
    }),
  },
  {
    name: 'compact_transcript_bytes_total',
    help: 'Bytes of compacted transcripts, before (in) and after (out)',
    by: 'direction',
    of: ({ bytes }) => ({ in: bytes.before, out: bytes.after }),
  },
  {
    name: 'compact_model_calls_total',
    help: 'Calls of a model, answered or failed',
    of: ({ usage }) => usage?.calls ?? 0,
  },
  {
    name: 'compact_model_retries_total',
    help: 'Calls that repeated a failed or rejected one',
    of: ({ usage }) => usage?.retries ?? 0,
  },
  {
    name: 'compact_model_tokens_total',
    help: 'Tokens as the service counts them; input includes cached',
    by: 'kind',
    of: ({ usage }) => ({
      input: usage?.inputTokens ?? 0,
      cached: usage?.cachedInputTokens ?? 0,
      output: usage?.outputTokens ?? 0,
    }),
  },
  {
    name: 'compact_model_cost_total',
    help: 'Money, in the currency of the prices, as far as they are known',
    of: ({ usage }) => usage?.cost ?? 0,
  },
  {
    name: 'compact_archive_bytes',
    help: 'The size of the archive',
    isGauge: true,
    of: (_, { archive }) => archive && archive.bytes,
  },
  {
    name: 'compact_index_backlog_bytes',
    help: 'Stored text that the search index does not have yet',
    isGauge: true,
    of: (_, { archive }) => archive && archive.backlog.bytes,
  },
  {
    name: 'compact_index_backlog_messages',
    help: 'Stored messages that the search index does not have yet',
    isGauge: true,
    of: (_, { archive }) => archive && archive.backlog.messages,
  },
];
