import { AT, chained, type Fields, fresh, lines, type MarkedFormat, text } from './records.ts';

const claude = (type: string, content: unknown, more: Fields = {}): Fields => ({
  type,
  uuid: fresh(),
  parentUuid: null,
  sessionId: 's',
  timestamp: AT,
  message: { role: type, content },
  ...more,
});
const claudeCall = (id: string, name: string): Fields =>
  claude('assistant', [{ type: 'tool_use', id, name, input: {} }]);
const claudeResult = (id: string, content: string, more: Fields = {}, isError = false): Fields =>
  claude('user', [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }], more);
const rejected = (id: string, words: string, more: Fields): Fields => claudeResult(id, words, more, true);

const path = (words: string): string => words.replaceAll('\n', ' ');

export const CLAUDE: MarkedFormat = {
  format: 'claude-code',
  name: 's.jsonl',
  file: (records) => chained(records, ['uuid', 'parentUuid']),
  prompt: (words) => [claude('user', words)],
  places: [
    { at: 'tool result', records: (words) => [claudeCall('c', 'WebFetch'), claudeResult('c', words)] },
    { at: 'result without an id', records: (words) => [claude('user', [{ type: 'tool_result', content: words }])] },
    { at: 'reminder', records: (words) => [claude('user', `<system-reminder>\n${words}\n</system-reminder>`)] },
    {
      at: 'hook output below a prompt',
      records: (words) => [claude('user', `Go on.\n<user-prompt-submit-hook>${words}</user-prompt-submit-hook>`)],
    },
    {
      at: 'path of an open file',
      records: (words) => [
        claude('user', [text(`<ide_opened_file>The user opened ${path(words)}</ide_opened_file>`), text('Go on.')]),
      ],
    },
    {
      at: 'selection above a prompt',
      records: (words) => [claude('user', `<ide_selection>${words}</ide_selection>\nGo on.`)],
    },
    { at: 'text of a skill', records: (words) => [claude('user', [text(words)], { sourceToolUseID: 'c' })] },
    { at: 'notification', records: (words) => [claude('user', words, { origin: { kind: 'task-notification' } })] },
    {
      at: 'queued notification',
      records: (words) => [
        {
          ...claude('attachment', ''),
          attachment: { type: 'queued_command', prompt: words, commandMode: 'task-notification' },
        },
      ],
    },
    { at: 'prompt of a subagent', records: (words) => [claude('user', words, { isSidechain: true })] },
    {
      at: 'rejected shell command',
      records: (words) => [
        claudeCall('c', 'Bash'),
        rejected('c', words, { toolDenialKind: 'user-rejected', toolUseResult: 'User rejected tool use' }),
      ],
    },
    {
      at: 'rejected MCP call',
      records: (words) => [
        claudeCall('c', 'mcp__page__get'),
        rejected('c', words, { toolDenialKind: 'user-rejected' }),
      ],
    },
    {
      at: 'rejected agent',
      records: (words) => [claudeCall('c', 'Task'), rejected('c', words, { toolUseResult: 'User rejected tool use' })],
    },
    {
      at: 'hook that denies an edit',
      records: (words) => [claudeCall('c', 'Edit'), rejected('c', words, { toolUseResult: `Error: ${words}` })],
    },
    {
      at: 'rejection without its call',
      records: (words) => [rejected('gone', words, { toolDenialKind: 'user-rejected' })],
    },
  ],
};

const codex = (type: string, payload: Fields): Fields => ({ timestamp: AT, type, payload });
const codexText = (role: string, words: readonly string[]): Fields =>
  codex('response_item', { type: 'message', role, content: words.map((one) => ({ type: 'input_text', text: one })) });

export const CODEX: MarkedFormat = {
  format: 'codex',
  name: 'rollout.jsonl',
  file: (records) => lines([codex('session_meta', { id: 's', timestamp: AT, cwd: '/w', source: 'cli' }), ...records]),
  prompt: (words) => [codexText('user', [words])],
  places: [
    {
      at: 'tool result',
      records: (words) => [
        codex('response_item', { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c' }),
        codex('response_item', { type: 'function_call_output', call_id: 'c', output: words }),
      ],
    },
    {
      at: 'instructions',
      records: (words) => [
        codexText('user', [`# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n${words}\n</INSTRUCTIONS>`]),
      ],
    },
    {
      at: 'selection in the editor',
      records: (words) => [
        codexText('user', [`# Context from my IDE setup:\n\n${words}\n\n## My request for Codex:\nGo on.`]),
      ],
    },
    {
      at: 'shell command of the user',
      records: (words) => [codexText('user', [`<user_shell_command>\n${words}\n</user_shell_command>`])],
    },
    {
      at: 'unknown wrapper',
      records: (words) => [codexText('user', [`<fetched_page url="x">\n${words}\n</fetched_page>\n`])],
    },
    {
      at: 'another agent',
      records: (words) => [
        codex('inter_agent_communication', { author: 'a', content: [{ type: 'input_text', text: words }] }),
      ],
    },
  ],
};
