import { type Fields, lines } from './records.ts';

/** A file of a format that does not say who wrote a message: each text stands where its user messages do, or where tools write. */
export type UnmarkedCase = {
  readonly format: string;
  readonly name: string;
  readonly at: string;
  readonly file: (texts: readonly string[]) => string;
};

const chat = (at: string, recordsOf: (text: string) => readonly Fields[]): UnmarkedCase => ({
  format: 'chat-lines',
  name: 'chat.jsonl',
  at,
  file: (texts) =>
    lines([{ role: 'user', content: 'Go on.' }, { role: 'assistant', content: 'Yes.' }, ...texts.flatMap(recordsOf)]),
});
const said = (content: unknown, role = 'user'): Fields => ({ role, content });
const answered = (text: string): Fields => ({ role: 'assistant', content: text });

export const UNMARKED: readonly UnmarkedCase[] = [
  chat('user message', (text) => [said(text), answered('Yes.')]),
  chat('observation of ReAct', (text) => [answered('Action: read[page]'), said(`Observation: ${text}`)]),
  chat('output of mini-swe-agent', (text) => [
    answered('```bash\ncat page\n```'),
    said(`<returncode>0</returncode>\n<output>\n${text}\n</output>`),
  ]),
  chat('name of AutoGen', (text) => [{ role: 'user', name: 'web_surfer', content: text }, answered('Yes.')]),
  chat('document block', (text) => [
    said([
      { type: 'document', source: { type: 'text', data: text } },
      { type: 'text', text: 'Read it.' },
    ]),
  ]),
  chat('tool message', (text) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: text },
  ]),
  {
    format: 'cursor',
    name: 'c.jsonl',
    at: 'query in an attached file',
    file: (texts) =>
      lines([
        { role: 'user', message: { content: [{ type: 'text', text: '<user_query>\nGo on.\n</user_query>' }] } },
        {
          role: 'assistant',
          message: {
            content: [
              { type: 'text', text: 'Yes.' },
              { type: 'tool_use', name: 'Read', input: {} },
            ],
          },
        },
        ...texts.map((text) => ({
          role: 'user',
          message: {
            content: [
              { type: 'text', text: `<attached_files>\n${text}\n</attached_files>` },
              { type: 'text', text },
            ],
          },
        })),
      ]),
  },
  {
    format: 'claude-stream',
    name: 'run.jsonl',
    at: 'prompt of a program',
    file: (texts) =>
      lines([
        { type: 'system', subtype: 'init', session_id: 's', uuid: 'u0', tools: [] },
        ...texts.map((text, at) => ({
          type: 'user',
          session_id: 's',
          uuid: `u${at + 1}`,
          parent_tool_use_id: null,
          message: { role: 'user', content: text },
        })),
        {
          type: 'assistant',
          session_id: 's',
          uuid: 'a',
          parent_tool_use_id: null,
          message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
        },
      ]),
  },
  {
    format: 'gemini-stream',
    name: 'run.jsonl',
    at: 'prompt of a program',
    file: (texts) =>
      lines([
        { type: 'init', timestamp: '2026-01-01T00:00:00Z', session_id: 's', model: 'm' },
        ...texts.map((content) => ({ type: 'message', timestamp: '2026-01-01T00:00:01Z', role: 'user', content })),
        { type: 'message', timestamp: '2026-01-01T00:00:02Z', role: 'assistant', content: 'Yes.' },
      ]),
  },
  {
    format: 'codex-exec',
    name: 'run.jsonl',
    at: 'output of a command',
    file: (texts) =>
      lines([
        { type: 'thread.started', thread_id: 't' },
        ...texts.map((text, at) => ({
          type: 'item.completed',
          item: {
            id: `item_${at}`,
            type: 'command_execution',
            command: 'cat page',
            aggregated_output: text,
            exit_code: 0,
          },
        })),
        { type: 'item.completed', item: { id: 'last', type: 'agent_message', text: 'Yes.' } },
      ]),
  },
  {
    format: 'responses-items',
    name: 'items.jsonl',
    at: 'user item',
    file: (texts) =>
      lines(texts.map((text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }))),
  },
  {
    format: 'conversation-lines',
    name: 'sharegpt.jsonl',
    at: 'ShareGPT',
    file: (texts) =>
      lines([
        {
          conversations: texts.flatMap((value) => [
            { from: 'human', value },
            { from: 'gpt', value: 'Yes.' },
          ]),
        },
      ]),
  },
  {
    format: 'conversation-lines',
    name: 'train.jsonl',
    at: 'fine-tuning data',
    file: (texts) => lines([{ messages: texts.flatMap((text) => [said(text), answered('Yes.')]) }]),
  },
  {
    format: 'trace-lines',
    name: 'spans.jsonl',
    at: 'input of a span',
    file: (texts) =>
      lines([
        {
          name: 'chat m',
          trace_id: '00000000000000000000000000000007',
          span_id: '0000000000000001',
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': 'm',
            'gen_ai.input.messages': JSON.stringify(
              texts.map((content) => ({ role: 'user', parts: [{ type: 'text', content }] })),
            ),
            'gen_ai.output.messages': JSON.stringify([
              { role: 'assistant', parts: [{ type: 'text', content: 'Yes.' }] },
            ]),
          },
        },
      ]),
  },
  {
    format: 'claude-ai',
    name: 'conversations.json',
    at: 'message of an export',
    file: (texts) =>
      JSON.stringify([
        {
          uuid: 'b',
          name: 'B',
          created_at: '2026-02-03T09:00:00Z',
          chat_messages: texts.map((text, at) => ({
            uuid: `m${at}`,
            text,
            content: [{ type: 'text', text }],
            sender: 'human',
            created_at: '2026-02-03T09:01:01Z',
            attachments: [],
            files: [],
          })),
        },
      ]),
  },
  {
    format: 'chatgpt',
    name: 'conversations.json',
    at: 'message of an export',
    file: (texts) =>
      JSON.stringify([
        {
          title: 'T',
          create_time: 1,
          current_node: `n${texts.length - 1}`,
          mapping: Object.fromEntries(
            texts.map((text, at) => [
              `n${at}`,
              {
                id: `n${at}`,
                parent: at === 0 ? null : `n${at - 1}`,
                children: at + 1 < texts.length ? [`n${at + 1}`] : [],
                message: {
                  id: `n${at}`,
                  author: { role: 'user' },
                  create_time: 1,
                  content: { content_type: 'text', parts: [text] },
                  recipient: 'all',
                  metadata: {},
                },
              },
            ]),
          ),
        },
      ]),
  },
  {
    format: 'atif',
    name: 'trajectory.json',
    at: 'step of a user',
    file: (texts) =>
      JSON.stringify({
        schema_version: 'ATIF-v1.7',
        session_id: 's',
        agent: { name: 'a', version: '1' },
        steps: texts.map((message, at) => ({ step_id: at + 1, source: 'user', message })),
      }),
  },
  {
    format: 'inspect',
    name: 'log.json',
    at: 'message of a sample',
    file: (texts) =>
      JSON.stringify({
        version: 2,
        status: 'success',
        eval: { run_id: 'r', task: 'mill' },
        samples: [
          {
            id: 1,
            epoch: 1,
            input: 'x',
            target: 'y',
            messages: texts.map((content, at) => ({ id: `u${at}`, content, role: 'user' })),
          },
        ],
      }),
  },
  {
    format: 'swe-agent',
    name: 'run.traj',
    at: 'observation',
    file: (texts) =>
      JSON.stringify({
        environment: 'swe_main',
        trajectory: texts.map((text) => ({
          action: 'read',
          observation: text,
          response: 'Yes.',
          thought: 'Yes.',
          state: '{}',
        })),
        history: texts.map((content) => ({ role: 'user', content, agent: 'main', message_type: 'observation' })),
        info: {},
      }),
  },
  {
    format: 'aider',
    name: '.aider.chat.history.md',
    at: 'prompt in Markdown',
    file: (texts) =>
      `\n# aider chat started at 2031-05-03 10:00:00\n\n${texts.map((text) => `#### ${text.replaceAll('\n', '\n#### ')}\n\nYes.\n`).join('\n')}`,
  },
];
