import type { ClientHost, ClientName, LaunchCommand } from '../../ports/clients.ts';
import type { JsonEntry } from './json-edit.ts';

/** In the environment of an MCP server that `compact install` added. */
const MARK = 'COMPACT_INSTALLED_FOR';

/** The environment that marks an MCP server as installed by us. */
export function markFor(client: ClientName): Readonly<Record<string, string>> {
  return { [MARK]: client };
}

/** Whether a value in a client's settings is an MCP server that we added. */
export function isManagedServer(value: unknown): boolean {
  const variables = propertyOf(value, 'env') ?? propertyOf(value, 'environment');
  return typeof variables === 'object' && variables !== null && MARK in variables;
}

/** The line of a shell that answers an event of a client. */
function hookCommand({ launch }: Pick<ClientHost, 'launch'>, client: ClientName, event: string): string {
  return [...wordsOf(launch), 'hook', client, event].join(' ');
}

function wordsOf({ command, args }: LaunchCommand): readonly string[] {
  return [command, ...args].map((word) =>
    /^[A-Za-z0-9_./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`,
  );
}

type HookOptions = {
  readonly client: ClientName;
  readonly event: string;
  readonly matcher?: string;
  /** In the client's unit. */
  readonly timeout: number;
};

/** An entry in the list of an event's hooks, in the shape that Claude Code, Codex and Gemini CLI share. */
export function hookEntry(host: ClientHost, { client, event, matcher, timeout }: HookOptions): JsonEntry {
  const hooks = [{ type: 'command', command: hookCommand(host, client, event), timeout }];
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
  return (
    typeof command === 'string' && new RegExp(`\\bcompact(?:-transcript|\\.js)?'? hook ${client} \\w+$`).test(command)
  );
}

function propertyOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}
