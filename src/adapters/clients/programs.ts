import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Program, Programs } from '../../ports/clients.ts';
import { decodeText, readOutsideFile } from '../../system/outside-file.ts';
import { parseJson } from '../../core/result.ts';

type Session = Parameters<Programs['locate']>[0];

/** A program, and how its sessions are kept. */
type Description = Program & {
  readonly format: string;
  readonly ids: RegExp;
  /** Undefined: the program has no use for it. */
  readonly idOf?: (session: Session) => string | undefined;
  /** The folder that the place of the file names, if the records do not. */
  readonly folderAt?: (path: string) => string | null;
  /** Whether the place of the file stands for a folder. Undefined: it does for none. */
  readonly standsFor?: (path: string, folder: string) => boolean;
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** In the versions that `test/producers` resumes sessions with. */
const DESCRIPTIONS: readonly Description[] = [
  {
    format: 'claude-code',
    command: 'claude',
    title: 'Claude Code',
    packageName: '@anthropic-ai/claude-code',
    resume: ['--resume', 'ID'],
    begin: ['PROMPT'],
    mayRead: ['--add-dir', 'FOLDER'],
    ids: UUID,
    idOf: ({ path }) => basename(path, '.jsonl'),
    standsFor: (path, folder) => isDashed(basename(dirname(path)), folder),
  },
  {
    format: 'codex',
    command: 'codex',
    title: 'Codex',
    packageName: '@openai/codex',
    resume: ['resume', 'ID'],
    begin: ['PROMPT'],
    ids: UUID,
    idOf: ({ sample }) => firstString(sample, 'payload', 'id'),
  },
  {
    format: 'gemini',
    command: 'gemini',
    title: 'Gemini CLI',
    packageName: '@google/gemini-cli',
    resume: ['--resume', 'ID'],
    begin: ['--prompt-interactive', 'PROMPT'],
    mayRead: ['--include-directories', 'FOLDER'],
    ids: UUID,
    idOf: ({ sample }) => firstString(sample, 'sessionId'),
    folderAt: projectRootOf,
  },
  {
    format: 'pi',
    command: 'pi',
    title: 'pi',
    packageName: '@earendil-works/pi-coding-agent',
    resume: ['--session', 'FILE'],
    begin: ['PROMPT'],
    ids: UUID,
    standsFor: (path, folder) =>
      basename(dirname(path)) === `--${folder.replace(/^\//, '').replaceAll(/[/\\:]/g, '-')}--`,
  },
  {
    format: 'copilot',
    command: 'copilot',
    title: 'Copilot CLI',
    packageName: '@github/copilot',
    resume: ['--resume=ID'],
    begin: ['--interactive', 'PROMPT'],
    mayRead: ['--add-dir', 'FOLDER'],
    ids: UUID,
    idOf: ({ path }) => basename(dirname(path)),
  },
  {
    format: 'opencode',
    command: 'opencode',
    title: 'OpenCode',
    packageName: 'opencode-ai',
    resume: ['--session', 'ID'],
    takeIn: ['import', 'FILE'],
    begin: ['--prompt', 'PROMPT'],
    ids: /^ses_[0-9A-Za-z]{8,64}$/,
    idOf: ({ sample }) => firstString(sample, 'info', 'id'),
  },
  {
    format: 'qwen',
    command: 'qwen',
    title: 'Qwen Code',
    packageName: '@qwen-code/qwen-code',
    resume: ['--resume', 'ID'],
    begin: ['--prompt-interactive', 'PROMPT'],
    mayRead: ['--include-directories', 'FOLDER'],
    ids: UUID,
    idOf: ({ path }) => basename(path, '.jsonl'),
    standsFor: (path, folder) => isDashed(basename(dirname(dirname(path))), folder),
  },
  {
    format: 'kimi-code',
    command: 'kimi',
    title: 'Kimi Code',
    packageName: '@moonshot-ai/kimi-code',
    resume: ['--session', 'ID'],
    begin: null,
    folderAt: workFolderOf,
    ids: /^session_[0-9a-f-]{36}$/i,
    idOf: ({ path }) => basename(dirname(dirname(dirname(path)))),
    standsFor: (path, folder) => {
      const workspace = basename(dirname(dirname(dirname(dirname(path)))));
      return workspace.endsWith(`_${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`);
    },
  },
];

export const programs: Programs = {
  list: () => DESCRIPTIONS,
  locate: (session) => {
    const program = DESCRIPTIONS.find(({ format }) => format === session.format);
    if (program === undefined) return null;
    const { ids, idOf, folderAt, standsFor } = program;
    const { path } = session;
    const id = idOf?.(session) ?? null;
    const folder = session.folder ?? folderAt?.(path) ?? null;
    return {
      program,
      id: id !== null && ids.test(id) ? id : null,
      folder,
      isMisplaced: folder !== null && standsFor?.(path, folder) === false,
    };
  },
};

/** Longer names of folders are cut, and end in a hash. */
const MAX_DASHED_CHARS = 200;

/** Whether a project's folder of Claude Code or Qwen Code stands for a working folder. */
function isDashed(name: string, folder: string): boolean {
  const dashed = folder.replaceAll(/[^A-Za-z0-9]/g, '-');
  return dashed.length <= MAX_DASHED_CHARS ? name === dashed : name.startsWith(dashed.slice(0, MAX_DASHED_CHARS));
}

/** Kimi Code notes the folder of a session beside the folder of its agents. */
function workFolderOf(path: string): string | null {
  const note = parseJson(readNote(join(dirname(dirname(dirname(path))), 'state.json')));
  return firstString([note], 'cwd') ?? firstString([note], 'workDir') ?? null;
}

const MAX_NOTE_BYTES = 1024 * 1024;

/** Empty: there is none. */
function readNote(path: string): string {
  const read = readOutsideFile(path, { maxBytes: MAX_NOTE_BYTES, followsLinks: false });
  return read.ok ? (decodeText(read.value.bytes) ?? '') : '';
}

/** Gemini CLI notes the folder of a project beside the folder of its chats. */
function projectRootOf(path: string): string | null {
  const root = readNote(join(dirname(dirname(path)), '.project_root')).trim();
  return root === '' ? null : root;
}

function firstString(sample: readonly unknown[], ...keys: readonly string[]): string | undefined {
  const values = sample.map((record) => keys.reduce<unknown>((value, key) => Object(value)[key], record));
  return values.find((value) => typeof value === 'string');
}
