import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QUOTATION_NOTICE } from '../../src/core/clip-archive.ts';
import { DEFAULT_DIRECTIVE, DEFAULT_SYSTEM_PROMPT } from '../../src/core/prompt.ts';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatLine, prose } from '../support/chat.ts';
import { KEY, MODEL, openModelScene, paidTexts, type Provider, PROVIDERS, summary } from '../support/model-scene.ts';
import { startModelServer } from '../support/model-server/start.ts';
import { runHere } from '../support/program.ts';

const CALL = { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"config.json"}' } };

/** Two chunks of three messages, an instruction before them, and what stays. */
const TRANSCRIPT = [
  { role: 'system', content: 'You are a builder.' },
  { role: 'user', content: prose(1, 80) },
  { role: 'assistant', content: prose(2, 80), tool_calls: [CALL] },
  { role: 'tool', tool_call_id: 'call_1', content: prose(3, 80) },
  { role: 'user', content: prose(4, 80) },
  { role: 'assistant', content: prose(5, 80) },
  { role: 'assistant', content: prose(6, 80) },
  { role: 'user', content: 'And now?' },
  { role: 'assistant', content: 'It is mended.' },
]
  .map((record) => `${chatLine(record)}\n`)
  .join('');

const [FIRST, SECOND] = [
  'They read config.json: the port was wrong.',
  'The port was corrected, and the build is green.',
];
const PREVIOUS = `Previous summary of conversation:\n${FIRST}`;

const text = (said: string): { type: string; text: string } => ({ type: 'text', text: said });

/** The bodies of both requests, as the wire of the provider has them. */
function expectedBodies(provider: Provider): readonly unknown[] {
  const [asked, called] = [prose(1, 80), `${prose(2, 80)}\n[Tool call]: read_file({"path":"config.json"})`];
  const result = `[Tool result]: ${prose(3, 80)}`;
  const [question, reply, more] = [prose(4, 80), prose(5, 80), prose(6, 80)];
  if (provider === 'anthropic') {
    const common = { model: MODEL, max_tokens: 300, output_config: { effort: 'low' }, stream: true };
    return [
      {
        ...common,
        system: DEFAULT_SYSTEM_PROMPT,
        messages: [
          { role: 'user', content: [text(asked)] },
          { role: 'assistant', content: [text(called)] },
          { role: 'user', content: [text(result), text(DEFAULT_DIRECTIVE)] },
        ],
      },
      {
        ...common,
        system: `${DEFAULT_SYSTEM_PROMPT}\n\n${PREVIOUS}`,
        messages: [
          { role: 'user', content: [text(question)] },
          { role: 'assistant', content: [text(reply), text(more)] },
          { role: 'user', content: [text(DEFAULT_DIRECTIVE)] },
        ],
      },
    ];
  }
  const common = {
    model: MODEL,
    max_tokens: 300,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  };
  return [
    {
      ...common,
      messages: [
        { role: 'system', content: DEFAULT_SYSTEM_PROMPT },
        { role: 'user', content: asked },
        { role: 'assistant', content: called },
        { role: 'user', content: result },
        { role: 'user', content: DEFAULT_DIRECTIVE },
      ],
    },
    {
      ...common,
      messages: [
        { role: 'system', content: DEFAULT_SYSTEM_PROMPT },
        { role: 'system', content: PREVIOUS },
        { role: 'user', content: question },
        { role: 'assistant', content: reply },
        { role: 'assistant', content: more },
        { role: 'user', content: DEFAULT_DIRECTIVE },
      ],
    },
  ];
}

const HEAD = `[Context Summary — 6 messages compressed across 1 compaction cycle]
${QUOTATION_NOTICE}
## Requests and how they ended
1. `;
const BATCHES = `
[Batch 1 — depth 0, messages 1 to 3]
${FIRST}

[Batch 2 — depth 0, messages 4 to 6]
${SECOND}

`;

for (const provider of PROVIDERS) {
  test(`${provider}: requests, their order, the fold-in, the clip-archive, the archive, and the way back`, async (t) => {
    const server = await startModelServer(t, [summary(FIRST), summary(SECOND)]);
    const settings = { chunk_size: 3, appendix_share: 0, redact: true };
    const scene = openModelScene(t, { provider, url: server.url, transcript: TRANSCRIPT, settings });
    const done = await runHere(['-i', '--json', ...scene.args]);
    assert.equal(done.code, 0, done.stderr);

    const bodies = server.requests.map(({ body }) => body);
    if (process.env['REQUESTS'] === '1') console.log(`${provider}: ${JSON.stringify(bodies, null, 2)}`);
    assert.deepEqual(bodies, expectedBodies(provider));
    const path = provider === 'anthropic' ? '/v1/messages' : '/v1/chat/completions';
    assert.deepEqual(
      server.requests.map((request) => [request.path, request.headers['authorization']]),
      [
        [path, `Bearer ${KEY}`],
        [path, `Bearer ${KEY}`],
      ],
    );

    const [instruction, clip, ...kept] = scene.text().trimEnd().split('\n');
    assert.deepEqual([instruction, ...kept].map((line) => `${line}\n`).join(''), linesOf([0, 7, 8]));
    const { role, content } = JSON.parse(clip ?? '');
    assert.equal(role, 'user');
    assert.ok(content.startsWith(HEAD), content);
    assert.ok(content.includes(BATCHES), content);
    assert.match(content.slice(content.indexOf(BATCHES) + BATCHES.length), /^\[Archive: [^\n]*\]$/);

    const rows = readArchiveRows(scene.archive);
    const { compactions, cycles, batches, lines, summaries } = rows?.counts ?? {};
    assert.deepEqual(
      [rows?.damage, rows?.statuses, rows?.cycles],
      [[], ['applied'], [{ cycle: 1, messages_compressed: 6 }]],
    );
    assert.deepEqual(
      { compactions, cycles, batches, lines, summaries },
      { compactions: 1, cycles: 1, batches: 2, lines: 6, summaries: 2 },
    );
    assert.deepEqual(paidTexts(scene.archive), [SECOND, FIRST]);

    const report = JSON.parse(done.stdout);
    const { calls, inputTokens, outputTokens, reused, retries } = report.usage;
    assert.deepEqual(
      { calls, inputTokens, outputTokens, reused, retries },
      { calls: 2, inputTokens: 6000, outputTokens: 80, reused: 0, retries: 0 },
    );

    const verified = await runHere(['verify', '--archive', scene.archive, scene.file]);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    const restored = await runHere(['restore', '--archive', scene.archive, scene.file]);
    assert.deepEqual([restored.code, restored.stdout], [0, TRANSCRIPT]);
    for (const told of [done.stdout, done.stderr, scene.text()]) assert.ok(!told.includes(KEY));
  });
}

function linesOf(indices: readonly number[]): string {
  const lines = TRANSCRIPT.split('\n');
  return indices.map((index) => `${lines[index]}\n`).join('');
}
