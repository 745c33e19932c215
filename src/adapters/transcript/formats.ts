import type { Format, Place } from '../../ports/codec.ts';

/** Where VS Code and editors made from it keep the data of extensions, on Linux, macOS, Windows and remote machines. */
const EDITORS: readonly Pick<Place, 'variable' | 'base' | 'folder'>[] = [
  { variable: 'XDG_CONFIG_HOME', base: '.config', folder: '*/User/globalStorage' },
  { base: 'Library/Application Support', folder: '*/User/globalStorage' },
  { variable: 'APPDATA', base: 'AppData/Roaming', folder: '*/User/globalStorage' },
  { base: '.vscode-server', folder: 'data/User/globalStorage' },
];
const EXTENSIONS = ['saoudrizwan.claude-dev', 'rooveterinaryinc.roo-cline'];

const TRACES_CHECKED = 'restored and verified after up to four compactions; the result has the same shape';
const LISTS_CHECKED = 'nothing reads them back; the result is parsed, and what stays is compared byte for byte';

/** What is known of each format before its codec is loaded, in the order in which formats are listed. */
export const FORMATS = {
  claudeCode: {
    name: 'claude-code',
    title: 'Claude Code session',
    summary: 'Claude Code sessions (~/.claude/projects/**/*.jsonl)',
    checked: 'compacted files resumed by Claude Code 2.1.197, up to three compactions with turns in between',
    places: [
      { variable: 'CLAUDE_CONFIG_DIR', base: '.claude', folder: 'projects/*' },
      { variable: 'CLAUDE_CONFIG_DIR', base: '.config/claude', folder: 'projects/*' },
    ],
    // anthropics/claude-code issues 36213 and 95439: after /clear the id may be that of the session before.
    openSigns: [
      {
        program: 'Claude Code',
        // A session's subagents are two folders further down.
        folders: ['../../sessions', '../../../../sessions'],
        file: /^(\d+)\.json$/,
        sessionKey: 'sessionId',
      },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  claudeStream: {
    name: 'claude-stream',
    title: 'output of claude -p --output-format stream-json',
    summary:
      'logs of claude -p --output-format stream-json, of the Claude Agent SDK and of agents that print the same (Cursor, Amp); several runs in one file too',
    checked:
      'compacted logs of Claude Code 2.1.197 and 2.1.330 read by the Claude Agent SDK 0.3.330, after a second compaction too; the last result stays',
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
  codex: {
    name: 'codex',
    title: 'Codex session',
    summary: 'Codex rollouts (~/.codex/sessions/**/*.jsonl)',
    checked:
      'compacted files of versions from September 2025 on resumed by Codex 0.169.0, after a second compaction and a turn in between too',
    places: [
      { variable: 'CODEX_HOME', base: '.codex', folder: 'sessions' },
      { variable: 'CODEX_HOME', base: '.codex', folder: 'archived_sessions' },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'order', summaryPlace: 'start' },
  },
  codexExec: {
    name: 'codex-exec',
    title: 'output of codex exec --json',
    summary: 'logs of codex exec --json; several runs in one file too',
    checked:
      'compacted logs of Codex 0.169.0 read by the Codex SDK 0.163.0, after a second compaction too; the last end of a turn stays',
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
  responsesItems: {
    name: 'responses-items',
    title: 'items of the Responses API, one a line',
    summary:
      'items of the Responses API, one a line; Codex rollouts up to September 2025, which Codex itself resumes no more',
    checked: 'restored and verified after up to four compactions',
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
  pi: {
    name: 'pi',
    title: 'pi session',
    summary: 'sessions of pi (~/.pi/agent/sessions/**/*.jsonl) and OpenClaw (~/.openclaw/agents/*/sessions)',
    checked: 'compacted files resumed by pi 0.73.1 and 0.87.1, after a second compaction and one of its own too',
    places: [
      { variable: 'PI_CODING_AGENT_DIR', base: '.pi/agent', folder: 'sessions/*' },
      { variable: 'PI_CODING_AGENT_SESSION_DIR', base: '.pi/agent/sessions', folder: '' },
      { variable: 'OPENCLAW_STATE_DIR', base: '.openclaw', folder: 'agents/*/sessions' },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  droid: {
    name: 'droid',
    title: 'Factory Droid session',
    summary: 'sessions of Factory Droid (~/.factory/sessions/**/*.jsonl)',
    checked:
      'read in tests by the rules with which Droid is known to load a session; Droid itself, which needs an account, was not tried',
    places: [{ base: '.factory', folder: 'sessions' }],
    marksTyped: true,
    layout: { kind: 'lines', links: 'order', summaryPlace: 'start' },
  },
  gemini: {
    name: 'gemini',
    title: 'Gemini CLI session',
    summary: 'Gemini CLI session logs (~/.gemini/tmp/*/chats/*.jsonl)',
    checked:
      'compacted files resumed by Gemini CLI 0.61.0, after further compactions, rewinds, resumes and a compression of its own too',
    places: [{ variable: 'GEMINI_CLI_HOME', base: '', folder: '.gemini/tmp/*/chats' }],
    marksTyped: true,
    layout: { kind: 'lines', links: 'order', summaryPlace: 'start' },
  },
  geminiStream: {
    name: 'gemini-stream',
    title: 'output of gemini -o stream-json',
    summary: 'logs of gemini -o stream-json; several runs in one file too',
    checked:
      'logs that Gemini CLI 0.61.0 wrote; nothing reads them back; each event that stays is compared byte for byte, and the last result stays',
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
  qwen: {
    name: 'qwen',
    title: 'Qwen Code session',
    summary: 'Qwen Code sessions (~/.qwen/projects/*/chats/*.jsonl)',
    checked: 'compacted files resumed by Qwen Code 0.24.4, after a second compaction too',
    places: [
      { variable: 'QWEN_HOME', base: '.qwen', folder: 'projects/*/chats' },
      { variable: 'QWEN_RUNTIME_DIR', base: '.qwen', folder: 'projects/*/chats' },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  kimiCode: {
    name: 'kimi-code',
    title: 'Kimi Code session',
    summary: 'Kimi Code sessions in ~/.kimi-code/sessions (*/*/agents/*/wire.jsonl)',
    checked: 'compacted files resumed by Kimi Code 2.1.0, after a second compaction too',
    places: [{ variable: 'KIMI_CODE_HOME', base: '.kimi-code', folder: 'sessions/*/*/agents/*', file: 'wire.jsonl' }],
    marksTyped: true,
    layout: { kind: 'lines', links: 'order', summaryPlace: 'start' },
  },
  copilot: {
    name: 'copilot',
    title: 'Copilot CLI session',
    summary: 'GitHub Copilot CLI (~/.copilot/session-state/*/*.jsonl)',
    checked:
      'compacted files resumed by Copilot CLI 1.0.64 and 1.0.102, after a second compaction, turns in between and one of its own too',
    // github/copilot-cli issues 3255 and 4805: the lock of a process that was killed stays.
    openSigns: [{ program: 'Copilot CLI', folders: ['.'], file: /^inuse\.(\d+)\.lock$/ }],
    places: [{ variable: 'COPILOT_HOME', base: '.copilot', folder: 'session-state/*', file: 'events.jsonl' }],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  cursor: {
    name: 'cursor',
    title: 'agent transcript of Cursor',
    summary: "transcripts of Cursor's agent in ~/.cursor/projects/* (agent-transcripts/**/*.jsonl)",
    checked: 'Cursor does not read them back; restored and verified after up to four compactions',
    places: [{ base: '.cursor', folder: 'projects/*/agent-transcripts' }],
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
  traceLines: {
    name: 'trace-lines',
    title: 'traces, one record a line',
    summary:
      'OTLP in JSON with gen_ai messages, spans of file and console exporters, observations and traces of Langfuse, runs of LangSmith: the calls of a model whose histories later calls repeat',
    checked: TRACES_CHECKED,
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
  traceDocument: {
    name: 'trace-document',
    title: 'traces in a JSON file',
    summary: 'a .json file, a list of such records, or {observations: […]}, {runs: […]}',
    checked: TRACES_CHECKED,
    layout: { kind: 'document', links: 'order' },
  },
  chatLines: {
    name: 'chat-lines',
    title: 'chat messages, one a line',
    summary:
      'one message a line: OpenAI chat messages, Anthropic messages with content blocks, UI messages of the AI SDK, LangChain messages, Kimi CLI contexts, database rows with conversation_id and created_at (several conversations in one file)',
    checked: 'restored and verified after up to four compactions',
    // The other files of a Kimi CLI session hold no messages.
    places: [{ variable: 'KIMI_SHARE_DIR', base: '.kimi', folder: 'sessions', file: 'context.jsonl' }],
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
  },
  conversationLines: {
    name: 'conversation-lines',
    title: 'conversations, one a line',
    summary:
      'fine-tuning data ({messages}), ShareGPT ({conversations}), batch requests to OpenAI, Anthropic and Bedrock: each line is compacted by itself, the others stay as they are',
    checked: LISTS_CHECKED,
    layout: { kind: 'lists', links: 'order' },
  },
  conversationList: {
    name: 'conversation-list',
    title: 'a JSON list of conversations',
    summary: 'a .json file, a list of such values: each element is compacted by itself',
    checked: LISTS_CHECKED,
    layout: { kind: 'document', links: 'order' },
  },
  conversationDocument: {
    name: 'conversation-document',
    title: 'one conversation in a JSON file',
    summary:
      'a .json file [message, …], {messages: […]} or {conversations: […]}, as requests to chat models are stored',
    checked: LISTS_CHECKED,
    layout: { kind: 'document', links: 'order' },
  },
  claudeAi: {
    name: 'claude-ai',
    title: 'Claude.ai export',
    summary: 'conversations.json of a Claude.ai export',
    checked: 'nothing reads it back; the result is an export of the same shape, kept messages byte for byte',
    layout: { kind: 'document', links: 'order' },
  },
  chatGpt: {
    name: 'chatgpt',
    title: 'ChatGPT export',
    summary: 'conversations.json of a ChatGPT export',
    checked:
      'nothing reads it back; the result is an export of the same shape, every tree whole, kept messages byte for byte',
    layout: { kind: 'document', links: 'parents' },
  },
  openCode: {
    name: 'opencode',
    title: 'OpenCode session',
    summary: 'a session that opencode export wrote',
    checked: 'compacted sessions imported and resumed by OpenCode 1.18.33',
    marksTyped: true,
    layout: { kind: 'document', links: 'order' },
  },
  cline: {
    name: 'cline',
    title: 'task of Cline or Roo Code',
    summary:
      'tasks of Cline (api_conversation_history.json, *.messages.json in ~/.cline/data/sessions) and Roo Code (api_conversation_history.json)',
    checked:
      'read in tests by the rules with which Roo Code and Cline load a task; the programs themselves need an editor',
    places: [
      ...EDITORS.flatMap(({ folder, ...editor }) =>
        EXTENSIONS.map((extension) => ({
          ...editor,
          folder: `${folder}/${extension}/tasks`,
          file: 'api_conversation_history.json',
        })),
      ),
      { variable: 'CLINE_DATA_DIR', base: '.cline/data', folder: 'tasks', file: 'api_conversation_history.json' },
      { variable: 'CLINE_DATA_DIR', base: '.cline/data', folder: 'sessions', file: '*.messages.json' },
    ],
    // The roles take turns: an older message that survives would break the order, so it is quoted in the summary.
    marksTyped: true,
    layout: { kind: 'document', links: 'parents' },
  },
  geminiDocument: {
    name: 'gemini-document',
    title: 'Gemini CLI session, older',
    summary: 'older Gemini CLI sessions, one document each (~/.gemini/tmp/*/chats/*.json)',
    checked: 'compacted files resumed by Gemini CLI 0.61.0, which makes logs of them',
    places: [{ variable: 'GEMINI_CLI_HOME', base: '', folder: '.gemini/tmp/*/chats', file: '*.json' }],
    marksTyped: true,
    layout: { kind: 'document', links: 'order' },
  },
  atif: {
    name: 'atif',
    title: 'ATIF trajectory',
    summary:
      'trajectory.json in the Agent Trajectory Interchange Format (ATIF-v1), as Harbor and other evaluation tools write it',
    checked:
      "compacted files pass the rules of Harbor's validator up to ATIF-v1.8: kept steps keep their numbers, and placeholders take those of the steps that left",
    layout: { kind: 'document', links: 'parents' },
  },
  sweAgent: {
    name: 'swe-agent',
    title: 'SWE-agent trajectory',
    summary: 'trajectories of SWE-agent (.traj) and mini-swe-agent (.traj.json)',
    checked:
      "nothing resumes them; a compacted trajectory keeps the shape that SWE-agent's inspector and replay read, with a step for each answer in the history",
    layout: { kind: 'document', links: 'order' },
  },
  inspect: {
    name: 'inspect',
    title: 'Inspect AI log',
    summary: 'logs of Inspect AI, as .eval or in JSON: each sample is compacted by itself',
    checked:
      "compacted logs opened by Inspect's own log reader, after a second compaction too; kept records stay byte for byte",
    layout: { kind: 'document', links: 'order' },
  },
  aider: {
    name: 'aider',
    title: 'aider chat history',
    summary: '.aider.chat.history.md of aider: scored, captured and searched, but not compacted',
    checked: "split into messages by aider's own rules for --restore-chat-history",
    layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
    whyReadOnly:
      'aider appends to it without marking where a message ends, so a compacted file could not be restored after the next line',
  },
} satisfies Readonly<Record<string, Format>>;
