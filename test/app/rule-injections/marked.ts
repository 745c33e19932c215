import { CLAUDE, CODEX } from './claude-and-codex.ts';
import { AT, chained, type Fields, fresh, lines, type MarkedFormat, text } from './records.ts';

const droid = (content: readonly Fields[], more: Fields = {}, role = 'user'): Fields => ({
  type: 'message',
  id: fresh(),
  timestamp: AT,
  message: { role, content, ...more },
});

const pi = (message: Fields, type = 'message'): Fields => ({
  type,
  id: fresh().slice(-8),
  parentId: null,
  timestamp: AT,
  ...(type === 'message' ? { message } : message),
});
const gemini = (type: string, content: unknown, more: Fields = {}): Fields => ({
  id: fresh(),
  timestamp: AT,
  type,
  content,
  ...more,
});
const qwen = (type: string, parts: readonly Fields[], more: Fields = {}): Fields => ({
  uuid: fresh(),
  parentUuid: null,
  sessionId: 's',
  timestamp: AT,
  type,
  message: { role: type, parts },
  ...more,
});
const kimi = (message: Fields): Fields => ({
  type: 'context.append_message',
  message: { toolCalls: [], ...message },
  time: 1,
});
const copilot = (type: string, data: Fields): Fields => ({ type, data, id: fresh(), timestamp: AT, parentId: null });
const openCode = (role: string, parts: readonly Fields[]): Fields => ({
  info: { id: fresh(), role, sessionID: 's', time: { created: 1 } },
  parts,
});
const cline = (content: unknown, role = 'user'): Fields => ({ role, content, ts: 1 });

const SURROUNDINGS = text('<environment_details>\n# Open tabs\n</environment_details>');

const OTHERS: readonly MarkedFormat[] = [
  {
    format: 'pi',
    name: 'p.jsonl',
    file: (records) =>
      `${lines([{ type: 'session', version: 3, id: 's', timestamp: AT, cwd: '/w' }])}${chained(records, ['id', 'parentId'])}`,
    prompt: (words) => [pi({ role: 'user', content: [text(words)] })],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          pi({ role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 'bash', arguments: {} }] }),
          pi({ role: 'toolResult', toolCallId: 'c', toolName: 'bash', content: [text(words)] }),
        ],
      },
      {
        at: 'attached file',
        records: (words) => [pi({ role: 'user', content: [text(`<file name="a.md">\n${words}\n</file>\nGo on.`)] })],
      },
      {
        at: 'name of a file',
        records: (words) => [pi({ role: 'user', content: [text(`<file name="a\n${words}">\nx\n</file>\nGo on.`)] })],
      },
      {
        at: 'shell of the user',
        records: (words) => [pi({ role: 'bashExecution', command: 'cat page', output: words, exitCode: 0 })],
      },
      {
        at: 'extension',
        records: (words) => [pi({ customType: 'note', content: words, display: true }, 'custom_message')],
      },
    ],
  },
  {
    format: 'droid',
    name: 'd.jsonl',
    file: (records) => lines([{ type: 'session_start', id: 's', title: 'T', version: 2, cwd: '/w' }, ...records]),
    prompt: (words) => [droid([text(words)])],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          droid([{ type: 'tool_use', id: 'c', name: 'FetchUrl', input: {} }], {}, 'assistant'),
          droid([{ type: 'tool_result', tool_use_id: 'c', content: words }]),
        ],
      },
      {
        at: 'reminder',
        records: (words) => [droid([text(`<system-reminder>\n${words}\n</system-reminder>`), text('Go on.')])],
      },
      { at: 'context of Droid', records: (words) => [droid([text(words)], { visibility: 'llm_only' })] },
      {
        at: 'hook output',
        records: (words) => [droid([text(words)], { visibility: 'user_only', hookEventName: 'Stop' })],
      },
      {
        at: 'document',
        records: (words) => [droid([{ type: 'document', source: { type: 'text', data: words } }, text('Go on.')])],
      },
    ],
  },
  {
    format: 'gemini',
    name: 'session.jsonl',
    file: (records) => lines([{ sessionId: 's', projectHash: 'h', startTime: AT, lastUpdated: AT }, ...records]),
    prompt: (words) => [gemini('user', [{ text: words }])],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          gemini('gemini', 'I look.', {
            toolCalls: [
              {
                id: 'c',
                name: 'web_fetch',
                args: {},
                result: [{ functionResponse: { id: 'c', name: 'web_fetch', response: { output: words } } }],
                status: 'success',
              },
            ],
          }),
        ],
      },
      {
        at: 'referenced file',
        records: (words) => [
          gemini('user', [
            { text: 'Read @a.md' },
            { text: '\n--- Content from referenced files ---' },
            { text: `\nContent from @a.md:\n` },
            { text: words },
          ]),
        ],
      },
      {
        at: 'hook output',
        records: (words) => [
          gemini('user', [{ text: 'Go on.' }, { text: `<hook_context>${words}</hook_context>` }, { text: words }]),
        ],
      },
      {
        at: 'what was sent instead',
        records: (words) => [gemini('user', [{ text: words }], { displayContent: [{ text: '/review' }] })],
      },
      {
        at: 'shell of the user',
        records: (words) => [gemini('user', [{ text: `I ran the following shell command:\n${words}` }])],
      },
    ],
  },
  {
    format: 'qwen',
    name: 'q.jsonl',
    file: (records) => chained(records, ['uuid', 'parentUuid']),
    prompt: (words) => [qwen('user', [{ text: words }], { provenance: 'real_user' })],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          qwen('assistant', [{ functionCall: { id: 'c', name: 'web_fetch', args: {} } }]),
          qwen('tool_result', [{ functionResponse: { id: 'c', name: 'web_fetch', response: { output: words } } }]),
        ],
      },
      { at: 'notification', records: (words) => [qwen('user', [{ text: words }], { subtype: 'notification' })] },
      { at: 'text of a program', records: (words) => [qwen('user', [{ text: words }], { provenance: 'synthetic' })] },
      { at: 'referenced file', records: (words) => [qwen('user', [{ text: 'Read @a.md' }, { text: words }])] },
    ],
  },
  {
    format: 'kimi-code',
    name: 'wire.jsonl',
    file: (records) => lines([{ type: 'metadata', protocol_version: '1.5', created_at: 1 }, ...records]),
    prompt: (words) => [kimi({ role: 'user', content: [text(words)], origin: { kind: 'user' } })],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          kimi({ role: 'assistant', content: [], toolCalls: [{ id: 'c', name: 'Fetch', arguments: '{}' }] }),
          kimi({ role: 'tool', toolCallId: 'c', content: [text(words)] }),
        ],
      },
      {
        at: 'injection of the client',
        records: (words) => [
          kimi({ role: 'user', content: [text(words)], origin: { kind: 'injection', variant: 'hook' } }),
        ],
      },
      {
        at: 'text of a skill',
        records: (words) => [
          kimi({ role: 'user', content: [text(words)], origin: { kind: 'skill_activation', trigger: 'user-slash' } }),
        ],
      },
      { at: 'message without an origin', records: (words) => [kimi({ role: 'user', content: [text(words)] })] },
    ],
  },
  {
    format: 'copilot',
    name: 'events.jsonl',
    file: (records) =>
      lines([
        copilot('session.start', {
          sessionId: 's',
          version: 1,
          producer: 'copilot-agent',
          copilotVersion: '1',
          startTime: AT,
        }),
        ...records,
      ]),
    prompt: (words) => [copilot('user.message', { content: words, transformedContent: words, attachments: [] })],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          copilot('assistant.message', {
            content: '',
            toolRequests: [{ toolCallId: 'c', name: 'bash', arguments: {} }],
          }),
          copilot('tool.execution_complete', { toolCallId: 'c', success: true, result: { content: words } }),
        ],
      },
      {
        at: 'attached file',
        records: (words) => [
          copilot('user.message', {
            content: 'Go on.',
            transformedContent: `Go on.\n${words}`,
            attachments: [{ type: 'file', path: words }],
          }),
        ],
      },
      {
        at: 'extension',
        records: (words) => [copilot('user.message', { content: words, source: 'skill', attachments: [] })],
      },
      {
        at: 'notification',
        records: (words) => [copilot('system.notification', { content: words, kind: { type: 'agent' } })],
      },
      {
        at: 'feedback on a shell command',
        records: (words) => [
          copilot('assistant.message', {
            content: '',
            toolRequests: [{ toolCallId: 'c', name: 'bash', arguments: {} }],
          }),
          copilot('permission.completed', {
            toolCallId: 'c',
            result: { kind: 'denied-interactively-by-user', feedback: words },
          }),
          copilot('tool.execution_complete', { toolCallId: 'c', success: false, error: { message: words } }),
        ],
      },
    ],
  },
  {
    format: 'opencode',
    name: 'export.json',
    file: (records) =>
      JSON.stringify({
        info: { id: 's', version: '1.2.20', title: 'T', time: { created: 1, updated: 2 } },
        messages: records,
      }),
    prompt: (words) => [openCode('user', [{ id: 'p', type: 'text', text: words }])],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          openCode('assistant', [
            {
              id: 'p',
              type: 'tool',
              callID: 'c',
              tool: 'webfetch',
              state: { status: 'completed', input: {}, output: words },
            },
          ]),
        ],
      },
      {
        at: 'attached file',
        records: (words) => [
          openCode('user', [
            { id: 'p', type: 'text', text: 'Read it.' },
            { id: 'q', type: 'text', synthetic: true, text: words },
          ]),
        ],
      },
      {
        at: 'error of a shell command',
        records: (words) => [
          openCode('assistant', [
            { id: 'p', type: 'tool', callID: 'c', tool: 'bash', state: { status: 'error', input: {}, error: words } },
          ]),
        ],
      },
      {
        at: 'error of an MCP call',
        records: (words) => [
          openCode('assistant', [
            {
              id: 'p',
              type: 'tool',
              callID: 'c',
              tool: 'page_get',
              state: { status: 'error', input: {}, error: words },
            },
          ]),
        ],
      },
    ],
  },
  {
    format: 'cline',
    name: 'api_conversation_history.json',
    file: (records) => JSON.stringify([cline([text('<task>\nGo on.\n</task>'), SURROUNDINGS]), ...records]),
    prompt: (words) => [cline([text(`<user_message>\n${words}\n</user_message>`), SURROUNDINGS])],
    places: [
      {
        at: 'tool result',
        records: (words) => [
          cline([{ type: 'tool_use', id: 'c', name: 'use_mcp_tool', input: {} }], 'assistant'),
          cline([{ type: 'tool_result', tool_use_id: 'c', content: words }]),
        ],
      },
      {
        at: 'result of older versions',
        records: (words) => [cline([text("[web_fetch for 'page'] Result:"), text(words)])],
      },
      { at: 'result in one block', records: (words) => [cline([text(`[read_file for 'a.md'] Result:\n${words}`)])] },
      {
        at: 'mentioned file',
        records: (words) => [
          cline([
            text(
              `<user_message>\nRead 'a.md'\n</user_message>\n\n<file_content path="a.md">\n${words}\n</file_content>`,
            ),
          ]),
        ],
      },
      {
        at: 'surroundings',
        records: (words) => [
          cline([
            text('<user_message>\nGo on.\n</user_message>'),
            text(`<environment_details>\n${words}\n</environment_details>`),
          ]),
        ],
      },
    ],
  },
];

export const MARKED: readonly MarkedFormat[] = [CLAUDE, CODEX, ...OTHERS];
