import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { parse, TomlError } from 'smol-toml';
import { err, ok, type Result, parseJson } from '../../core/result.ts';
import type {
  Client,
  ClientFiles,
  ClientHost,
  ClientName,
  EditProblem,
  FileEdit,
  InstallRecords,
} from '../../ports/clients.ts';
import { createJsonEdit, type JsonEntry } from './json-edit.ts';

/** Every client that `compact install` can set up. */
export function createClients(host: ClientHost): readonly Client[] {
  return [createClaudeCode, createCodex, createGemini, createPi, createOpenCode].map((create) => create(host));
}

/** The folder that a variable names, or else one in the home folder. */
function folderOf({ environment, homeFolder }: ClientHost, variable: string, usual: string): string {
  const given = environment[variable] ?? '';
  return given === '' ? join(homeFolder, usual) : given;
}

/**
 * Claude Code (2.1): hooks stand in settings.json; MCP servers for all projects in .claude.json, which is in the home folder unless
 * CLAUDE_CONFIG_DIR names another folder for both.
 */
function createClaudeCode(host: ClientHost): Client {
  const folder = folderOf(host, 'CLAUDE_CONFIG_DIR', '.claude');
  const { command, args } = host.launch;
  const server = { type: 'stdio', command, args: [...args, 'mcp'], env: { [MARK]: 'claude' } };
  return {
    name: 'claude',
    title: 'Claude Code',
    folders: [folder],
    program: 'claude',
    edits: [
      // Seconds; the hooks answer in a tenth of one. Claude Code itself ends those of SessionEnd after 1.5.
      createHooksFile(host, join(folder, 'settings.json'), { client: 'claude', timeout: 10 }),
      createJsonEdit({
        path: join(folderOf(host, 'CLAUDE_CONFIG_DIR', ''), '.claude.json'),
        allowsComments: false,
        entries: [serverEntry(['mcpServers', 'compact'], server)],
      }),
    ],
    nextStep: 'Claude Code reads this when it starts the next time.',
  };
}

/** Codex (0.169): hooks stand in hooks.json, MCP servers in config.toml. Codex runs a hook only after its user has trusted it. */
function createCodex(host: ClientHost): Client {
  const folder = folderOf(host, 'CODEX_HOME', '.codex');
  const { command, args } = host.launch;
  return {
    name: 'codex',
    title: 'Codex',
    folders: [folder],
    program: 'codex',
    edits: [
      // Seconds; the hooks answer in a tenth of one. Codex allows SessionEnd no more than 3.
      createHooksFile(host, join(folder, 'hooks.json'), { client: 'codex', timeout: 3 }),
      createTomlEdit({
        path: join(folder, 'config.toml'),
        table: 'mcp_servers.compact',
        // JSON strings and lists are TOML too.
        lines: [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify([...args, 'mcp'])}`],
      }),
    ],
    nextStep: 'Codex runs the hooks once you have trusted them: type /hooks in it.',
  };
}

/** Gemini CLI (0.61): loads every folder of extensions; each has a manifest, and hooks in a file of their own. */
function createGemini(host: ClientHost): Client {
  const folder = join(folderOf(host, 'GEMINI_CLI_HOME', ''), '.gemini');
  const extensions = join(folder, 'extensions');
  const extension = join(extensions, 'compact');
  const { command, args } = host.launch;
  const description = `${MANAGED_FILE_MARK}; \`compact install gemini --undo\` removes it.`;
  // Milliseconds; the hooks answer in a tenth of a second.
  const hooks = ['PreCompress', 'SessionEnd'].map((event) => [
    event,
    [hookEntry(host, { client: 'gemini', event, timeout: 5000 }).value],
  ]);
  const toFile = (path: string, value: object, managedFolders: readonly string[]): FileEdit => {
    const content = `${JSON.stringify({ description, ...value }, null, 2)}\n`;
    return { ...createManagedFile({ path: join(extension, path), content }), managedFolders };
  };
  return {
    name: 'gemini',
    title: 'Gemini CLI',
    folders: [folder],
    program: 'gemini',
    edits: [
      toFile('hooks/hooks.json', { hooks: Object.fromEntries(hooks) }, [join(extension, 'hooks')]),
      toFile(
        'gemini-extension.json',
        { name: 'compact', version: '1.0.0', mcpServers: { compact: { command, args: [...args, 'mcp'] } } },
        [extension, extensions],
      ),
    ],
    nextStep: 'Gemini CLI loads the extension when it starts the next time.',
  };
}

/** pi (0.73): loads every file in its folder of extensions. */
function createPi(host: ClientHost): Client {
  const folder = folderOf(host, 'PI_CODING_AGENT_DIR', '.pi/agent');
  return {
    name: 'pi',
    title: 'pi',
    folders: [folder],
    program: 'pi',
    edits: [createPlugin(host, 'pi', join(folder, 'extensions'))],
    nextStep: 'pi loads the extension when it starts the next time, or after /reload.',
  };
}

/**
 * OpenCode (1.18): loads every file in its folder of plugins, and MCP servers from opencode.json or opencode.jsonc. Before its first plugin
 * it waits for the package @opencode-ai/plugin, which it fetches itself.
 */
function createOpenCode(host: ClientHost): Client {
  const given = host.environment['XDG_CONFIG_HOME'] ?? '';
  const folder = join(isAbsolute(given) ? given : join(host.homeFolder, '.config'), 'opencode');
  const { command, args } = host.launch;
  const settings = ['opencode.jsonc', 'opencode.json'].map((name) => join(folder, name)).find(host.exists);
  const server = { type: 'local', command: [command, ...args, 'mcp'], environment: { [MARK]: 'opencode' } };
  return {
    name: 'opencode',
    title: 'OpenCode',
    folders: [folder],
    program: 'opencode',
    edits: [
      createPlugin(host, 'opencode', join(folder, 'plugins')),
      createJsonEdit({
        path: settings ?? join(folder, 'opencode.json'),
        allowsComments: true,
        entries: [serverEntry(['mcp', 'compact'], server)],
      }),
    ],
    nextStep: 'Restart OpenCode to load the plugin.',
    needs: {
      path: join(folder, 'node_modules/@opencode-ai/plugin'),
      notice:
        'OpenCode needs its own package @opencode-ai/plugin before it loads any plugin, and has not downloaded it yet. Start OpenCode once with a network; offline, each start takes about a minute longer.',
    },
  };
}

/** Stands in every file that belongs to this program as a whole. */
const MANAGED_FILE_MARK = 'Written by compact install';

/** A file that is ours as a whole. A file of the same name without our mark is the user's. `content` has to contain the mark. */
function createManagedFile({ path, content }: { readonly path: string; readonly content: string }): FileEdit {
  const isOurs = (text: string): boolean => text.includes(MANAGED_FILE_MARK);
  return {
    path,
    inspect: (text) => {
      if (text === null) return ok({ state: 'absent', taken: [] });
      if (!isOurs(text)) return ok({ state: 'absent', taken: [path] });
      return ok({ state: text === content ? 'installed' : 'changed', taken: [] });
    },
    add: (text) => ok(text === null || isOurs(text) ? content : text),
    remove: (text) => ({ text: isOurs(text) ? '' : text, isEmpty: isOurs(text) }),
  };
}

/** A file of JavaScript in the folder that a client loads everything from. */
function createPlugin(host: ClientHost, client: 'pi' | 'opencode', folder: string): FileEdit {
  const head = `// ${MANAGED_FILE_MARK}; \`compact install ${client} --undo\` removes it.`;
  const source = host.extensionSource(client);
  const content = `${head}\n${source}\n\nexport default createPlugin(${JSON.stringify(host.launch)});\n`;
  return { ...createManagedFile({ path: join(folder, 'compact.js'), content }), managedFolders: [folder] };
}

/** In the environment of an MCP server that `compact install` added. */
const MARK = 'COMPACT_INSTALLED_FOR';

function serverEntry(keys: readonly string[], value: object): JsonEntry {
  const isOurs = (found: unknown): boolean => {
    const variables = propertyOf(found, 'env') ?? propertyOf(found, 'environment');
    return typeof variables === 'object' && variables !== null && MARK in variables;
  };
  return { keys, kind: 'value', value, isOurs };
}

/** `timeout`: in the client's unit. */
type HookOptions = { readonly client: ClientName; readonly timeout: number };

/** The hooks of Claude Code and Codex, which have the same events. */
function createHooksFile(host: ClientHost, path: string, hook: HookOptions): FileEdit {
  return createJsonEdit({
    path,
    allowsComments: false,
    entries: [
      hookEntry(host, { ...hook, event: 'PreCompact' }),
      hookEntry(host, { ...hook, event: 'SessionStart', matcher: 'compact' }),
      hookEntry(host, { ...hook, event: 'SessionEnd' }),
    ],
  });
}

/** An entry in the list of an event's hooks, in the shape that Claude Code, Codex and Gemini CLI share. */
export function hookEntry(
  { launch }: ClientHost,
  { client, event, matcher, timeout }: HookOptions & { readonly event: string; readonly matcher?: string },
): JsonEntry {
  const words = [launch.command, ...launch.args].map((word) =>
    /^[A-Za-z0-9_./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`,
  );
  const command = [...words, 'hook', client, event].join(' ');
  const hooks = [{ type: 'command', command, timeout }];
  return {
    keys: ['hooks', event],
    kind: 'item',
    value: matcher === undefined ? { hooks } : { matcher, hooks },
    isOurs: (value) => hooksOf(value).some((hook) => isManagedHook(hook, client)),
    // The user may have added a hook to our group.
    findParts: (value) => {
      const managed = hooksOf(value).flatMap((hook, at) => (isManagedHook(hook, client) ? [['hooks', at]] : []));
      return managed.length === hooksOf(value).length ? [[]] : managed;
    },
  };
}

function hooksOf(group: unknown): readonly unknown[] {
  const hooks = propertyOf(group, 'hooks');
  return Array.isArray(hooks) ? hooks : [];
}

function isManagedHook(hook: unknown, client: ClientName): boolean {
  const command = propertyOf(hook, 'command');
  return typeof command === 'string' && new RegExp(`\\bcompact[\\w.-]*'? hook ${client} \\w+$`).test(command);
}

function propertyOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

const recordsSchema = z.array(
  z.strictObject({
    path: z.string(),
    existed: z.boolean(),
    sha256: z.strictObject({ before: z.string(), after: z.string() }),
    splice: z.strictObject({ at: z.int().min(0), inserted: z.int().min(0), removed: z.string() }),
  }),
);

/** Keeps a file for each client in a folder of this program. */
export function createInstallRecords(folder: string, files: ClientFiles): InstallRecords {
  const pathOf = (client: ClientName): string => join(folder, `${client}.json`);
  return {
    load: (client) => {
      const read = files.read(pathOf(client));
      if (!read.ok || read.value === null) return [];
      const parsed = recordsSchema.safeParse(parseJson(read.value));
      return parsed.success ? parsed.data : [];
    },
    save: async (client, records) => {
      const path = pathOf(client);
      if (records.length === 0) return files.remove(path);
      const read = files.read(path);
      const expected = read.ok ? read.value : null;
      const saved = await files.replace(path, { expected, text: `${JSON.stringify(records)}\n` });
      if (saved.ok) return saved;
      return { ok: false, error: saved.error === 'file-changed' ? { kind: 'held', path } : saved.error };
    },
  };
}

const BEGIN = '# >>> written by compact install';
const END = '# <<< compact install';

type TomlEditOptions = {
  readonly path: string;
  /** `mcp_servers.compact`: what is written under it belongs to the user if it has no marks around it. */
  readonly table: string;
  readonly lines: readonly string[];
};

/** Adds a table between two marks to the end of a TOML file, and removes it again. */
export function createTomlEdit({ path, table, lines }: TomlEditOptions): FileEdit {
  const block = [BEGIN, `[${table}]`, ...lines, END];
  const add = (text: string): string => {
    const eol = eolOf(text);
    const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
    return text + gap + block.map((line) => line + eol).join('');
  };
  const remove = (text: string): string => {
    const eol = eolOf(text);
    const whole = block.map((line) => line + eol).join('');
    const at = text.indexOf(whole);
    if (at >= 0) return text.slice(0, at).replace(/(?<=\n)\r?\n$/, '') + text.slice(at + whole.length);
    return removeLines(text, table);
  };
  return {
    path,
    inspect: (text) => {
      const root = parseToml(text ?? '');
      if (!root.ok) return root;
      const whole = block.join(eolOf(text ?? ''));
      if (text?.includes(whole) === true) return ok({ state: 'installed', taken: [] });
      if (text?.includes(BEGIN) === true) return ok({ state: 'changed', taken: [] });
      return ok({ state: 'absent', taken: hasTable(root.value, table) ? [table] : [] });
    },
    add: (text) => {
      const root = parseToml(text ?? '');
      if (!root.ok) return root;
      const bare = remove(text ?? '');
      const rest = parseToml(bare);
      if (!rest.ok) return rest;
      if (hasTable(rest.value, table)) return ok(bare);
      // A file that has the table's parent as an inline table cannot be extended.
      const added = add(bare);
      const result = parseToml(added);
      if (result.ok) return ok(added);
      return err({ ...result.error, problem: `[${table}] cannot be added to it: ${result.error.problem}` });
    },
    remove: (text) => {
      const rest = remove(text);
      return { text: rest, isEmpty: rest.trim() === '' };
    },
  };
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function parseToml(text: string): Result<object, EditProblem> {
  try {
    return ok(parse(text.replace(/^\uFEFF/, '')));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ''] = error.message.replace('Invalid TOML document: ', '').split('\n');
    return err({ line: error.line, column: error.column, problem: `it is not valid TOML (${reason})` });
  }
}

function hasTable(root: object, table: string): boolean {
  return table.split('.').reduce<unknown>(propertyOf, root) !== undefined;
}

/** For a block that was edited: removes its marks and its table. Other tables that a client put between the marks stay. */
function removeLines(text: string, table: string): string {
  const lines = text.split(/(?<=\n)/);
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  if (begin < 0) return text;
  const isManagedHeader = (line: string): boolean => {
    const name = /^\s*\[+\s*([^\]]*?)\s*\]/.exec(line)?.[1] ?? '';
    return name === table || name.startsWith(`${table}.`);
  };
  let isOurs = true;
  const kept = lines.filter((line, at) => {
    if (at < begin) return true;
    if (line.trim() === BEGIN || line.trim() === END) {
      isOurs = line.trim() === BEGIN;
      return false;
    }
    if (line.trimStart().startsWith('[')) isOurs = isOurs && isManagedHeader(line);
    return !isOurs;
  });
  return kept.join('');
}
