import { z } from 'zod';
import type { SearchHit, SearchReport } from '../../app/contract/archive-reports.ts';
import type { Failure } from '../../app/contract/failure.ts';
import type { SearchRequest } from '../../app/contract/requests.ts';
import { parseSince, parseUntil } from '../../config/quantity.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { renderFailure } from '../../messages/failure.ts';
import { describeUnindexed } from '../../messages/problems.ts';
import { countOf } from '../../messages/quantities.ts';
import { safeText, textLines } from '../../messages/text.ts';
import type { Embeddings } from '../../compose/services.ts';
import type { UseCases } from '../../compose/use-cases.ts';
import { type McpScope, narrowSearch, shows } from './scope.ts';
import { clipField, defineTool, MAX_ANSWER_CHARS, READS_ONLY, type Tool, type ToolAnswer } from './tool.ts';

const MAX_QUERY_CHARS = 20_000; // as much as a search reads
const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;
const MAX_OFFSET = 1000;
/** How many hits are checked at most to find those within the scope. */
const MAX_SEARCHED = 5000;

const DESCRIPTION = `Searches the memory: everything that was compacted out of this user's conversations with language models, in all projects. It is complete: what was said, decided and tried, tool calls and what they printed.

Use it when what you need is no longer in your context: the conversation begins with [Context Summary — …], or says that earlier summaries are "searchable via memory_read", or the user mentions earlier work, a decision, an error, a file or a number that you do not have. Look here before you guess, do it again, or ask the user to repeat it.

Give words that the text itself would contain: names, paths, identifiers, error messages, numbers. A whole question works as well; there are no operators. Any of the words may match, in any of their endings.

Answers: original messages and summaries of batches of them, best first, each with an excerpt around the words found, its conversation and its times. Then memory_expand gives the exact words of a message (id "message:N") or of all messages behind a summary (its label).`;

const input = z.strictObject({
  query: z.string().max(MAX_QUERY_CHARS).describe('words to look for, in any language; any text works'),
  conversation: z.string().optional().describe('only in the conversation with this id'),
  kind: z.enum(['all', 'messages', 'summaries']).default('all').describe('what to look for'),
  role: z.enum(['user', 'assistant', 'system', 'tool']).optional().describe('only messages of this role'),
  since: z
    .string()
    .optional()
    .describe('only what was said since then: 2026-03-02, 2026-03-02T09:30Z, yesterday, or 7d (a week ago)'),
  until: z.string().optional().describe('only what was said until that day, or before that time'),
  source: z.string().optional().describe("only from this transcript: its file's path, or the end of it"),
  order: z.enum(['best', 'newest']).default('best').describe('newest: most recently archived first'),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('at most this many results'),
  offset: z.int().min(0).max(MAX_OFFSET).default(0).describe('skip this many results, to get further ones'),
});

type Args = z.output<typeof input>;

type MemoryReadDeps = {
  readonly openUseCases: (signal: AbortSignal) => Promise<UseCases>;
  /** For search by meaning; null: the settings name no embedder. */
  readonly createEmbeddings: (useCases: UseCases) => Promise<Embeddings | null>;
  readonly asksService: boolean;
  readonly archivePath: string;
  readonly scope: McpScope;
};

/** Searches the archive as `compact search` does. */
export function createMemoryRead(deps: MemoryReadDeps): Tool {
  const { openUseCases, createEmbeddings, archivePath, scope } = deps;
  return defineTool({
    name: 'memory_read',
    title: 'Search past conversations',
    description: DESCRIPTION,
    input,
    hints: { ...READS_ONLY, openWorldHint: deps.asksService },
    isOffered: true,
    call: async (args, signal) => {
      const wanted = toRequest(args);
      if (!wanted.ok) return wanted;
      const request = narrowSearch(wanted.value, scope);
      if (!request.ok) return request;
      const useCases = await openUseCases(signal);
      try {
        const embeddings = args.order === 'best' ? await createEmbeddings(useCases) : null;
        const found = await searchWithin(useCases, { ...request.value, embeddings }, scope);
        return found.ok ? ok(toAnswer(found.value, { args, archivePath })) : err(renderFailure(found.error));
      } finally {
        await useCases.close();
      }
    },
  });
}

/** Hits outside the scope are dropped, so the search is repeated with a higher limit until there are enough. */
async function searchWithin(
  useCases: UseCases,
  request: SearchRequest & { readonly embeddings: Embeddings | null },
  scope: McpScope,
): Promise<Result<SearchReport, Failure>> {
  for (let limit = request.limit; ; limit *= 4) {
    const found = await useCases.searchArchive({ ...request, limit });
    if (!found.ok) return found;
    const hits = found.value.hits.filter((hit) => shows(scope, hit));
    const isAll = found.value.hits.length < limit || limit > MAX_SEARCHED;
    if (isAll || hits.length >= request.limit) return ok({ ...found.value, hits });
  }
}

const KINDS = { all: 'all', messages: 'messages', summaries: 'batches' } as const;

function toRequest(args: Args): Result<SearchRequest, string> {
  const { query, kind, order, limit, offset } = args;
  const since = readTime('since', args.since, parseSince);
  if (!since.ok) return since;
  const until = readTime('until', args.until, parseUntil);
  if (!until.ok) return until;
  if (kind === 'summaries' && args.role !== undefined)
    return err('Only messages have a role: leave out role, or search for messages.');
  return ok({
    query,
    kinds: KINDS[kind],
    order,
    // One more than requested shows whether there are more.
    limit: offset + limit + 1,
    conversation: args.conversation ?? null,
    role: args.role ?? null,
    since: since.value,
    until: until.value,
    source: args.source ?? null,
  });
}

function readTime(
  name: string,
  text: string | undefined,
  parse: (text: string, nowMs: number) => Result<number, string>,
): Result<Date | null, string> {
  if (text === undefined) return ok(null);
  const parsed = parse(text, Date.now());
  return parsed.ok ? ok(new Date(parsed.value)) : err(`${name} '${safeText(clipField(text))}': ${parsed.error}`);
}

function toAnswer(
  report: SearchReport,
  { args, archivePath }: { readonly args: Args; readonly archivePath: string },
): ToolAnswer {
  const { limit, offset } = args;
  const shown: string[] = [];
  let chars = 0;
  for (const hit of report.hits.slice(offset, offset + limit)) {
    const rendered = renderHit(hit);
    if (shown.length > 0 && chars + rendered.length > MAX_ANSWER_CHARS) break;
    shown.push(rendered);
    chars += rendered.length;
  }
  const { unindexed } = report;
  const rest = unindexed === null ? '' : ` ${describeUnindexed(unindexed)}`;
  const nextOffset = offset + shown.length;
  const hasMore = report.hits.length > nextOffset && nextOffset <= MAX_OFFSET;
  const empty = `Nothing is archived yet: no transcript was compacted into ${safeText(archivePath)}. Go on without the memory.`;
  const more = hasMore ? ` There are more: repeat the call with offset ${nextOffset}.` : '';
  const found = `memory_expand gives the exact words behind a label or an id.${more}`;
  const none = offset > 0 ? 'There are no more results.' : NOTHING_FOUND;
  const hint = report.archive === null ? empty : (shown.length === 0 ? none : found) + rest;
  return {
    text: [...shown, hint].join('\n\n'),
    data: {
      hits: report.hits.slice(offset, nextOffset).map(toHitData),
      next_offset: hasMore ? nextOffset : null,
      hint,
    },
  };
}

const NOTHING_FOUND =
  'Nothing found. Try other or fewer words that the text itself would contain (a name, a path, an error message, a number), or fewer filters.';

/** A hit for a model: its origin and an excerpt, with long fields cut. `show` always leads to it. */
function toHitData(hit: SearchHit): Readonly<Record<string, unknown>> {
  const { show, text } = hit;
  const names = { label: clipField(hit.label), conversation: clipField(hit.conversation) };
  const file = clipField(hit.file);
  if (hit.kind === 'batch') {
    const { depth, count: messages, start, at: end } = hit;
    return { kind: 'summary', show, ...names, depth, messages, start, end, file, text };
  }
  const { kind, role, at, index } = hit;
  return { kind, show, id: clipField(hit.id), ...names, role, name: clipField(hit.name), at, index, file, text };
}

/** The same as lines of text. */
function renderHit(hit: SearchHit): string {
  const conversation = hit.conversation === null ? [] : [`conversation ${plain(hit.conversation)}`];
  const about =
    hit.kind === 'message'
      ? [
          hit.name === null ? hit.role : `${hit.role} ${plain(hit.name)}`,
          ...(hit.at === null ? [] : [hit.at]),
          ...(hit.index === null ? [] : [`message ${hit.index}`]),
          ...conversation,
          `id ${plain(hit.id)}`,
        ]
      : [
          `summary of ${countOf(hit.count, 'message')}${hit.depth === 0 ? '' : `, depth ${hit.depth}`}`,
          ...(hit.start === null || hit.at === null ? [] : [`${hit.start} to ${hit.at}`]),
          ...conversation,
        ];
  const label = hit.label === null ? [] : [`  label ${plain(hit.label)}`];
  const lines = [`${hit.show}: ${about.join(', ')}`, ...label, `  from ${plain(hit.file)}`];
  return [...lines, ...textLines(hit.text).map((line) => `  > ${line}`)].join('\n');
}

function plain(field: string): string {
  return safeText(clipField(field));
}
