import { type Fields, fieldsOf, listOf, parseFields, readRecords, textOf } from '../producers/json.ts';

/** How a client's own list of sessions names a file, written after the client and apart from our codecs; null: hidden. */
export type TitleOf = (file: Buffer) => string | null;

/** Both Claude Code and Qwen Code read this much at either end. */
const WINDOW = 65_536;

/** As a list shows titles; ours end at 600 characters. */
const shown = (text: string): string | null => {
  const start = text.trim().slice(0, 600).trim();
  return start === '' ? null : start;
};

const firstOf = (texts: Iterable<string | undefined>): string | undefined => {
  for (const text of texts) if (text !== undefined && text !== '') return text;
  return undefined;
};

const textsIn = (content: unknown): readonly string[] =>
  typeof content === 'string'
    ? [content]
    : listOf(content).flatMap((block) => (block['type'] === 'text' ? (textOf(block['text']) ?? []) : []));

/** `listSessions` in sdk.mjs of @anthropic-ai/claude-agent-sdk 0.3.330; the client 2.1.197 has the same order. */
const claudeCode: TitleOf = (file) => {
  const [head, tail] = [file.subarray(0, WINDOW).toString(), file.subarray(-WINDOW).toString()];
  const first = head.split('\n', 1)[0] ?? '';
  if (/"isSidechain": ?true/.test(first)) return null;
  const last = (text: string, key: string, type?: string): string | undefined => {
    const lines = text.split('\n').filter((line) => line.includes(`"${key}":`));
    const records = lines
      .map((line) => parseFields(line) ?? {})
      .filter((one) => type === undefined || one['type'] === type);
    return records.map((record) => textOf(record[key])).findLast((title) => title !== undefined);
  };
  const prompts = head
    .split('\n')
    .filter((line) => /"type": ?"user"/.test(line) && !line.includes('"tool_result"'))
    .filter((line) => !/"(?:isMeta|isCompactSummary)": ?true/.test(line));
  const texts = prompts
    .flatMap((line) => textsIn(fieldsOf(parseFields(line)?.['message'])['content']))
    .map((text) => text.replaceAll('\n', ' ').trim());
  const firstPrompt = texts.map((text) => {
    if (/<command-name>.*?<\/command-name>/.test(text)) return undefined;
    const shell = /<bash-input>([\s\S]*?)<\/bash-input>/.exec(text);
    if (shell !== null) return `! ${shell[1]?.trim()}`;
    if (/^(?:\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\])/.test(text)) return undefined;
    return text.length > 200 ? `${text.slice(0, 200).trim()}…` : text;
  });
  const commands = texts.map((text) => /<command-name>(.*?)<\/command-name>/.exec(text)?.[1]);
  const media = prompts.map((line) =>
    /"type": ?"image"/.test(line) ? 'Image' : /"type": ?"document"/.test(line) ? 'Document' : '',
  );
  return (
    firstOf([
      last(tail, 'customTitle', 'custom-title'),
      last(head, 'customTitle', 'custom-title'),
      last(tail, 'aiTitle', 'ai-title'),
      last(head, 'aiTitle', 'ai-title'),
      last(tail, 'lastPrompt'),
      last(tail, 'summary'),
      ...firstPrompt,
      ...commands,
      ...media,
    ]) ?? null
  );
};

/** `read_head_summary` in codex-rs/rollout/src/list.rs of openai/codex: a rollout without a prompt is hidden. */
const codex: TitleOf = (file) => {
  const events = file
    .toString()
    .split('\n')
    .slice(0, 210)
    .map((line) => parseFields(line) ?? {})
    .filter(({ type }) => type === 'event_msg')
    .map(({ payload }) => fieldsOf(payload));
  const previews = events.map((event) => {
    if (event['type'] === 'thread_goal_updated') return textOf(fieldsOf(event['goal'])['objective'])?.trim();
    if (event['type'] !== 'user_message') return undefined;
    const text = (textOf(event['message']) ?? '').split('## My request for Codex:').at(-1)?.trim() ?? '';
    const images = [event['images'], event['local_images']].flatMap((list) => (Array.isArray(list) ? list : []));
    return text === '' && images.length > 0 ? '[Image]' : text;
  });
  return shown(firstOf(previews) ?? '');
};

/** `loadConversationRecord` in @google/gemini-cli-core 0.61.0, and `getAllSessionFiles` in the CLI. */
const gemini: TitleOf = (file) => {
  const records = readRecords(file);
  const updates = records
    .filter((record) => !('id' in record))
    .map((record) => ({ ...record, ...fieldsOf(record['$set']) }));
  const summary = updates.map((update: Fields) => textOf(update['summary'])).findLast((text) => text !== undefined);
  const messages = records.flatMap((record) => {
    if ('id' in record) return [record];
    return listOf('$set' in record ? fieldsOf(record['$set'])['messages'] : record['messages']);
  });
  const prompts = messages
    .filter(({ type }) => type === 'user')
    .map(({ content }) =>
      typeof content === 'string'
        ? content
        : listOf(content)
            .map(({ text }) => textOf(text) ?? '')
            .join(''),
    )
    .filter((text) => !/^\s*(?:$|[/?]|<session_context>|<hook_context>)/.test(text));
  const prompt = (prompts[0] ?? '').replaceAll(/\s+/g, ' ').replaceAll(/[^\x20-\x7E]+/g, '');
  return shown(firstOf([summary, prompt]) ?? '');
};

/** `buildSessionInfo` in dist/core/session-manager.js of @mariozechner/pi-coding-agent 0.73.1. */
const pi: TitleOf = (file) => {
  const records = readRecords(file);
  const name = records.findLast(({ type }) => type === 'session_info')?.['name'];
  const said = records.filter(({ type }) => type === 'message').map(({ message }) => fieldsOf(message));
  const prompts = said.filter(({ role }) => role === 'user').map(({ content }) => textsIn(content).join(' '));
  return shown(firstOf([textOf(name)?.trim(), ...prompts]) ?? '');
};

/** `listSessions` of the session service in @qwen-code/qwen-code 0.24.4. */
const qwen: TitleOf = (file) => {
  const titleIn = (window: Buffer): string | undefined =>
    readRecords(window)
      .filter(({ subtype }) => subtype === 'custom_title')
      .map(({ systemPayload }) => textOf(fieldsOf(systemPayload)['customTitle']))
      .at(-1);
  const head = file.toString().split('\n').slice(0, 10).join('\n');
  const prompts = readRecords(Buffer.from(head))
    .filter(({ type, subtype }) => type === 'user' && subtype === undefined)
    .map(({ message, systemPayload }) => {
      const part = listOf(fieldsOf(message)['parts']).find((one) => 'text' in one);
      const text = textOf(fieldsOf(systemPayload)['displayText']) ?? textOf(part?.['text']) ?? '';
      const start = Array.from(text).slice(0, 200).join('');
      return start === text ? text : `${start}...`;
    });
  return shown(firstOf([titleIn(file.subarray(-WINDOW)) ?? titleIn(file.subarray(0, WINDOW)), ...prompts]) ?? '');
};

/** `sessionExtractFirstUserMessage` of runtime.node and what app.js makes of it, in @github/copilot 1.0.64, for sessions without a name. */
const copilot: TitleOf = (file) => {
  const said = readRecords(file).filter(({ type }) => type === 'user.message');
  const content = firstOf(said.map(({ data }) => textOf(fieldsOf(data)['content']))) ?? '';
  const reminder = content.search(/<(?:system_)?reminder>/);
  const text = (reminder < 0 ? content : content.slice(0, reminder)).replaceAll(/\s+/g, ' ').trim();
  return shown(text.length > 500 ? `${text.slice(0, 500).trim()}...` : text);
};

/**
 * The lists whose titles are in the transcript. Kimi Code has them in state.json, OpenCode in the session's row, which
 * its export has as `info.title`.
 */
export const TITLES: ReadonlyMap<string, TitleOf> = new Map([
  ['claude-code', claudeCode],
  ['codex', codex],
  ['copilot', copilot],
  ['gemini', gemini],
  ['pi', pi],
  ['qwen', qwen],
]);
