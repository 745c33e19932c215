import { joinLines } from './line.ts';
import { parseJson } from '../result.ts';

/** `arguments`: as the message has them, mostly JSON. */
type WrittenCall = { readonly name: string; readonly arguments: string };

/** An item of a plan or todo list, in the producer's words. */
type Task = { readonly text: string; readonly status: string };

/** A change of a file. `before` and `after` are what was replaced and by what; a file that is written whole has nothing before. */
export type Edit = {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly kind: 'part' | 'whole' | 'deletion';
};

/** What a tool call does, read from its arguments, whatever the producer calls its tools. */
export type ToolCall = {
  /** Files that the call writes or edits. */
  readonly written: readonly string[];
  /** The changes that it makes in them, as far as its arguments show them. */
  readonly edits: readonly Edit[];
  /** The command line that the call runs. */
  readonly command: string | null;
  /** Where it runs, if it changes the folder first. */
  readonly folder: string | null;
  /** The complete plan or todo list that the call sets. */
  readonly tasks: readonly Task[] | null;
  /** The one task that the call adds to a list (without an id) or changes. */
  readonly task: { readonly id: string | null; readonly text: string | null; readonly status: string | null } | null;
  /** The arguments that contain text: content, questions, prompts. */
  readonly texts: readonly string[];
  /** The file, pattern or URL that the call reads. */
  readonly target: string | null;
  /** Names, patterns and descriptions in the arguments, one line each. */
  readonly about: readonly string[];
};

/** For arguments in plain text, all of it; for JSON, the values. */
function textsOf(args: Arguments): readonly string[] {
  const keys = typeof args['input'] === 'string' ? ['input'] : TEXT_KEYS;
  return keys.flatMap((key) => {
    const value = args[key];
    return typeof value === 'string' && value.trim() !== '' ? [value] : [];
  });
}

type Arguments = Readonly<Record<string, unknown>>;

const PATH_KEYS = [
  'file_path',
  'filePath',
  'path',
  'notebook_path',
  'target_file',
  'filename',
  'file',
  'absolute_path',
];
const COMMAND_KEYS = ['command', 'cmd', 'script'];
const TARGET_KEYS = [...PATH_KEYS, 'pattern', 'query', 'url', 'uri', 'regex'];
const TEXT_KEYS =
  'content old_string new_string new_str newText file_text text insert_text new_source code patch input prompt question message body explanation plan'.split(
    ' ',
  );
const ABOUT_KEYS = ['pattern', 'query', 'regex', 'glob', 'url', 'uri', ...PATH_KEYS, 'description', 'subject'];
const MAX_ABOUT_CHARS = 300;
const WRITING = /write|edit|replace|patch|create_?file|insert|notebook|save_?file|update_?file|file_?change/i;
const RUNNING = /bash|shell|exec|terminal|command|powershell|run/i;
const TODO = /todo|plan|task/i;
const ONE_TASK = /^task_?(?:create|update)$/i;
const PATCHED_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm;

export function readCall({ name, arguments: written }: WrittenCall): ToolCall {
  const args = parseArguments(written);
  const path = firstText(args, PATH_KEYS);
  const command = commandOf(name, args);
  const patch = command ?? firstText(args, ['input', 'patch', 'patch_text', 'patchText']) ?? '';
  const patched = patchedFiles(patch);
  const isWriting = WRITING.test(name) && !TODO.test(name);
  return {
    written: (patched.length > 0 ? patched : isWriting && path !== null ? [path] : []).map(joinLines),
    edits:
      patched.length > 0 ? patchEdits(patch) : isWriting && path !== null ? argumentEdits(joinLines(path), args) : [],
    command: patched.length > 0 ? null : (command?.replace(CHANGES_FOLDER, '').trim() ?? null),
    folder: CHANGES_FOLDER.exec(command ?? '')?.[1] ?? null,
    tasks: TODO.test(name) ? tasksOf(args) : null,
    task: ONE_TASK.test(name)
      ? {
          id: firstText(args, ['taskId', 'id']),
          text: firstText(args, ['subject']),
          status: firstText(args, ['status']),
        }
      : null,
    texts: textsOf(args),
    target: firstText(args, TARGET_KEYS),
    about: ABOUT_KEYS.flatMap((key) => {
      const value = args[key];
      return typeof value === 'string' &&
        value.trim() !== '' &&
        !value.includes('\n') &&
        value.length <= MAX_ABOUT_CHARS
        ? [value]
        : [];
    }),
  };
}

/** What a question says of each option that it offers, by the option's label. */
export function readOptions({ arguments: written }: Pick<WrittenCall, 'arguments'>): ReadonlyMap<string, string> {
  const args = parseArguments(written);
  const asked = Array.isArray(args['questions']) ? args['questions'].filter(isRecord) : [args];
  const options = asked.flatMap((question) => (Array.isArray(question['options']) ? question['options'] : []));
  return new Map(
    options.filter(isRecord).flatMap((option) => {
      const [label, description] = [firstText(option, ['label']), firstText(option, ['description'])];
      return label === null || description === null ? [] : [[label, description] as const];
    }),
  );
}

/** Parses arguments from JSON, or from text such as `file_path=a.ts old_string=…`. Truncated ones are read as text. */
function parseArguments(written: string): Arguments {
  const parsed = /^\s*[[{"]/.test(written) ? parseJson(written) : undefined;
  if (typeof parsed === 'string') return parseNamed(parsed);
  if (!isRecord(parsed)) return parseNamed(written);
  const { input } = parsed;
  return typeof input === 'string' && Object.keys(parsed).length === 1 ? { ...parseNamed(input), input } : parsed;
}

const NAMES =
  /(?:^|\s)(command|cmd|file_path|filePath|path|notebook_path|pattern|description|content|old_string|new_string|todos|plan|prompt|offset|limit|output_mode|replace_all|run_in_background|timeout|url|query|glob|questions|subject|taskId|status|activeForm|subagent_type|task_id|block|edits|head_limit|addBlockedBy|addBlocks|owner)=/g;

function parseNamed(text: string): Arguments {
  const places = [...text.matchAll(NAMES)];
  if (places[0]?.index !== 0) return { input: text };
  return Object.fromEntries(
    places.map((place, index) => {
      const value = text.slice(place.index + place[0].length, places[index + 1]?.index ?? text.length);
      return [place[1] ?? '', /^[[{]/.test(value) ? (parseJson(value) ?? value) : value];
    }),
  );
}

function isRecord(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstText(args: Arguments, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === 'string' && value.trim() !== '') return value;
  }
  return null;
}

function commandOf(name: string, args: Arguments): string | null {
  for (const key of COMMAND_KEYS) {
    const value = args[key];
    if (typeof value === 'string' && (RUNNING.test(name) || key !== 'script')) return value.trim();
    if (Array.isArray(value)) {
      const words = value.filter((word) => typeof word === 'string');
      const isShell = words.length === 3 && /^-\w*c$/.test(words[1] ?? '');
      return (isShell ? (words[2] ?? '') : words.join(' ')).trim();
    }
  }
  return null;
}

/** The `cd` that agents put before most commands. */
const CHANGES_FOLDER = /^\s*cd\s+(\S+)[^\S\n]*(?:&&|;|\n)\s*/;

function patchedFiles(text: string): readonly string[] {
  return text.includes('*** ') ? Array.from(text.matchAll(PATCHED_FILE), (match) => (match[1] ?? '').trim()) : [];
}

const BEFORE_KEYS = ['old_string', 'oldText', 'old_str', 'oldString', 'old_text'];
const AFTER_KEYS = ['new_string', 'newText', 'new_str', 'newString', 'new_text', 'new_source', 'insert_text'];
const WHOLE_KEYS = ['content', 'file_text', 'contents', 'code'];

function argumentEdits(path: string, args: Arguments): readonly Edit[] {
  const list = Array.isArray(args['edits']) ? args['edits'].filter(isRecord) : [args];
  return list.flatMap((each): readonly Edit[] => {
    const after = firstText(each, AFTER_KEYS);
    const before = firstText(each, BEFORE_KEYS);
    if (after !== null || before !== null) return [{ path, before: before ?? '', after: after ?? '', kind: 'part' }];
    const whole = firstText(each, WHOLE_KEYS);
    return whole === null ? [] : [{ path, before: '', after: whole, kind: 'whole' }];
  });
}

/** The edits of a patch as Codex writes it: a line for each file, then lines with `-`, `+` or a blank before them. */
function patchEdits(patch: string): readonly Edit[] {
  const [, ...parts] = patch.split(/^\*\*\* (?=(?:Add|Update|Delete) File: )/m);
  return parts.map((part) => {
    const [head = '', ...lines] = part.split('\n');
    const of = (mark: string): string =>
      lines
        .filter((line) => line.startsWith(mark))
        .map((line) => line.slice(1))
        .join('\n');
    const kind = head.startsWith('Add') ? 'whole' : head.startsWith('Delete') ? 'deletion' : 'part';
    return { path: joinLines(head.replace(/^\w+ File: /, '').trim()), before: of('-'), after: of('+'), kind };
  });
}

const TASK_TEXT_KEYS = ['content', 'step', 'description', 'subject', 'title', 'text', 'task'];

function tasksOf(args: Arguments): readonly Task[] | null {
  const list = [args['todos'], args['plan'], args['tasks'], args['items'], args['todoList']].find(Array.isArray);
  if (list === undefined) return null;
  return list.flatMap((item: unknown): readonly Task[] => {
    if (typeof item === 'string') return [{ text: item, status: '' }];
    if (!isRecord(item)) return [];
    const text = firstText(item, TASK_TEXT_KEYS);
    const { status } = item;
    return text === null ? [] : [{ text, status: typeof status === 'string' ? joinLines(status) : '' }];
  });
}
