import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../../src/cli/line/command.ts';
import { type Flag, namesOf } from '../../src/cli/line/line.ts';
import { loadShown } from '../../src/cli/commands/table.ts';
import { describeFlag } from '../../src/cli/render/help.ts';
import { ROOT } from './shell.ts';

export const REFERENCE = join(ROOT, 'docs/commands.md');

type Described = { readonly name: string; readonly summary: string; readonly command: Command };

/** An option of at least this many commands is described once, in a table of its own. */
const SHARED_FROM = 3;

/** docs/commands.md, from the definitions that the program itself uses. */
export async function writeReference(): Promise<string> {
  const commands = await loadShown();
  const counts = new Map<string, number>();
  for (const flag of commands.flatMap(({ command }) => command.flags)) {
    counts.set(rowOf(flag), (counts.get(rowOf(flag)) ?? 0) + 1);
  }
  const isShared = (flag: Flag) => (counts.get(rowOf(flag)) ?? 0) >= SHARED_FROM;
  const shared = new Map(
    commands.flatMap(({ command }) => command.flags.filter(isShared).map((flag) => [rowOf(flag), flag] as const)),
  );
  return [
    '# Commands',
    '',
    '<!-- Made by `npm run docs:commands` from the definitions of the commands. Do not edit. -->',
    '',
    'Without the name of a command, `compact` compacts the transcripts that you name. Every command also has `-h, --help`.',
    '',
    ...commands.flatMap((described) => section(described, isShared)),
    '## Shared options',
    '',
    ...optionTable([...shared.values()]),
    '',
  ].join('\n');
}

function section({ name, summary, command }: Described, isShared: (flag: Flag) => boolean): readonly string[] {
  const operands = [command.operands].flat();
  const usage = ['compact', name, '[options]', ...operands.map(({ syntax }) => syntax)].join(' ');
  const { examples, actions = [] } = command;
  const columns = Math.max(0, ...examples.map(([line]) => line.length));
  const own = command.flags.filter((flag) => !isShared(flag)).map((flag) => describeFlag(flag, actions));
  const others = command.flags.filter(isShared).map((flag) => `\`${namesOf(flag).at(-1) ?? flag.flags}\``);
  const described = (actions.length > 0 ? [] : operands).map(
    ({ syntax, description, choices }) => `- \`${syntax}\`: ${cell(description)}${choiceList(choices)}`,
  );
  return [
    `## compact ${name}`,
    '',
    sentence(summary),
    '',
    '```text',
    usage,
    ...(name === 'run' ? [usage.replace(' run', '')] : []),
    '```',
    '',
    '```text',
    ...examples.map(([line, meaning]) => `${line.padEnd(columns)}  # ${meaning}`),
    '```',
    '',
    ...described,
    ...actions.map((action) => `- \`${action.name}\`: ${cell(action.summary)}`),
    ...(described.length + actions.length > 0 ? [''] : []),
    ...(own.length > 0 ? [...optionTable(own), ''] : []),
    ...(others.length > 0 ? [`[Shared options](#shared-options): ${others.join(', ')}`, ''] : []),
  ];
}

function optionTable(flags: readonly Flag[]): readonly string[] {
  return ['| option | meaning |', '|---|---|', ...flags.map(rowOf)];
}

function rowOf({ flags, description, choices, default: value }: Flag): string {
  const usual = value === undefined ? '' : `; default \`${value}\``;
  return `| \`${flags}\` | ${cell(description)}${choiceList(choices)}${usual} |`;
}

function choiceList(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : ` (${choices.map((choice) => `\`${choice}\``).join(', ')})`;
}

/** Text without what Markdown would take for a table's border or a tag. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

if (import.meta.main) writeFileSync(REFERENCE, await writeReference());
