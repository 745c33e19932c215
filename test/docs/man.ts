import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Example } from '../../src/cli/line/command.ts';
import { type Flag, namesOf } from '../../src/cli/line/line.ts';
import { loadShown } from '../../src/cli/commands/table.ts';
import { describeFlag, listChoices } from '../../src/cli/render/help.ts';
import { ROOT } from './shell.ts';

export const MAN_PAGE = join(ROOT, 'docs/compact.1');

/** Manual pages bear a date. It is no clock's, so that the same definitions give the same page. */
const DATE = '2026-11-22';

const EXIT_STATUS: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'Done, or nothing to do.'],
  ['1', 'At least one transcript failed; it is as it was, and the others are done.'],
  ['2', 'Wrong usage or configuration; nothing was done.'],
  ['69', 'The version of Node is wrong.'],
  ['130, 143', 'Interrupted; the current file is as it was.'],
];

const ENVIRONMENT: readonly (readonly [name: string, meaning: string])[] = [
  [
    'ANTHROPIC_API_KEY, OPENAI_API_KEY',
    'Keys for the providers of these names. They are used only if a provider is chosen.',
  ],
  ['COMPACT_CONFIG', 'The configuration file.'],
  ['NO_COLOR, FORCE_COLOR', 'Whether output is colored.'],
  ['VISUAL, EDITOR', 'The editor of compact config edit.'],
  [
    'XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME',
    'Where files are kept, instead of the places below.',
  ],
];

const FILES: readonly (readonly [path: string, meaning: string])[] = [
  ['~/.local/share/compact/archive.db', 'The archive: everything that left a transcript.'],
  ['~/.config/compact/config.toml', 'Your configuration.'],
  ['compact.toml', 'The configuration of a project, in the working folder or above it in the repository.'],
];

/** docs/compact.1 in man(7), from the definitions that the program itself uses. */
export async function writeManPage(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };
  const commands = await loadShown();
  const usual = commands.find(({ name }) => name === 'run')?.command.flags ?? [];
  const options = usual.map(optionOf);
  return [
    String.raw`.\" Made by npm run docs:commands from the definitions of the commands. Do not edit.`,
    `.TH COMPACT 1 ${DATE} "compact-transcript ${version}"`,
    '.SH NAME',
    String.raw`compact \- make stored conversations smaller, and lose nothing`,
    '.SH SYNOPSIS',
    '.B compact',
    String.raw`[\fIoptions\fR] \fItranscript\fR...`,
    '.br',
    '.B compact',
    String.raw`\fIcommand\fR ...`,
    '.SH DESCRIPTION',
    escape('compact replaces the older messages of a transcript by a summary. Recent messages stay byte for byte.'),
    escape('Every line that leaves is stored in an archive, and compact restore gives the original back.'),
    escape('By default it works offline.'),
    '.SH OPTIONS',
    ...options.flat(),
    '.SH COMMANDS',
    ...commands.flatMap((shown) => (shown.name === 'run' ? [] : sectionOf(shown, options))),
    '.SH EXIT STATUS',
    ...EXIT_STATUS.flatMap(itemOf),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(itemOf),
    '.SH FILES',
    ...FILES.flatMap(itemOf),
    '.SH EXAMPLES',
    ...commands
      .flatMap(({ name, command }) => (name === 'run' ? command.examples : []))
      .flatMap(exampleOf)
      .slice(1), // a heading begins a paragraph
    '',
  ].join('\n');
}

function sectionOf(
  { name, summary, command }: Awaited<ReturnType<typeof loadShown>>[number],
  shared: readonly (readonly string[])[],
): readonly string[] {
  const { actions = [] } = command;
  const operands = actions.length > 0 ? [] : [command.operands].flat();
  const usage = [command.operands].flat().map(({ syntax }) => syntax);
  const isShared = (flag: Flag) => shared.some((known) => known.join('\n') === optionOf(flag).join('\n'));
  const others = command.flags.filter(isShared).map((flag) => namesOf(flag).at(-1) ?? flag.flags);
  return [
    `.SS ${escape(['compact', name, ...usage].join(' '))}`,
    escape(`${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`),
    ...operands.flatMap(({ syntax, description, choices }) => [
      ...itemOf([syntax.replaceAll(/[<>[\].]/g, ''), description + listChoices(choices)]),
    ]),
    ...actions.flatMap((action) => itemOf([action.name, action.summary])),
    ...command.flags
      .filter((flag) => !isShared(flag))
      .map((flag) => describeFlag(flag, actions))
      .flatMap(optionOf),
    ...(others.length === 0 ? [] : ['.PP', escape(`Also ${others.join(', ')}: see OPTIONS.`)]),
    ...command.examples.flatMap(exampleOf),
  ];
}

function optionOf({ flags, description, choices, default: value }: Flag): readonly string[] {
  const usual = value === undefined ? '' : ` (default: ${value})`;
  const [, names = flags, operand = ''] = /^(.*?)( <.*>)?$/.exec(flags) ?? [];
  const argument = operand === '' ? '' : String.raw` \fI${escape(operand.slice(2, -1))}\fR`;
  return ['.TP', String.raw`\fB${escape(names)}\fR${argument}`, escape(description + listChoices(choices) + usual)];
}

function itemOf([name, text]: readonly [string, string]): readonly string[] {
  return ['.TP', String.raw`\fI${escape(name)}\fR`, escape(text)];
}

function exampleOf([line, meaning]: Example): readonly string[] {
  return [
    '.PP',
    escape(`${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)}:`),
    '.PP',
    '.nf',
    `    ${escape(line)}`,
    '.fi',
  ];
}

/** Text that means nothing to roff: no escapes, no typographic quotes or dashes, no control line. */
function escape(text: string): string {
  const plain = text
    .replaceAll('\\', String.raw`\e`)
    .replaceAll('-', String.raw`\-`)
    .replaceAll("'", String.raw`\(aq`)
    .replaceAll('`', String.raw`\(ga`)
    .replaceAll('~', String.raw`\(ti`)
    .replaceAll('^', String.raw`\(ha`)
    .replaceAll('"', String.raw`\(dq`)
    .replaceAll('…', '...');
  return /^[.]/.test(plain) ? String.raw`\&${plain}` : plain;
}

if (import.meta.main) writeFileSync(MAN_PAGE, await writeManPage());
