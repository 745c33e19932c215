import type { ActionHelp, Command } from '../line/command.ts';
import { type Flag, FLAG_GROUPS } from '../line/line.ts';
import type { Format } from '../../ports/codec.ts';
import { safeText, textWidth, wrapText } from '../../messages/text.ts';
import type { Rendering } from './theme.ts';

type Row = readonly [term: string, meaning: string];
type Section = { readonly title: string; readonly rows: readonly Row[] };

const INDENT = '  ';
const GAP_COLUMNS = 2;
/** Where a meaning would get less beside its term, it stands below it. */
const MIN_MEANING_COLUMNS = 30;

/** Headings with rows below them. In all sections the meanings begin in the same column, and long ones are wrapped. */
function laySections(sections: readonly Section[], widthColumns: number): readonly string[] {
  const rows = sections.flatMap((section) => section.rows);
  const column = INDENT.length + Math.max(0, ...rows.map(([term]) => textWidth(term))) + GAP_COLUMNS;
  const isBeside =
    widthColumns - column >= MIN_MEANING_COLUMNS ||
    rows.every(([, meaning]) => column + textWidth(meaning) <= widthColumns);
  const [start, below] = isBeside ? [column, []] : [INDENT.length * 3, ['']];
  return sections.flatMap(({ title, rows: own }) => [
    `${title}:`,
    ...own.flatMap(([term, meaning]) =>
      [...below, ...wrapText(meaning, widthColumns - start)].map(
        (text, at) => (at === 0 ? `${INDENT}${term}`.padEnd(isBeside ? start : 0) : ' '.repeat(start)) + text,
      ),
    ),
  ]);
}

type Help = {
  /** How the user calls this program. */
  readonly program: string;
  readonly isLong: boolean;
  readonly widthColumns: number;
};

/** What `compact -h` and `compact --help` print. The short one fits on a screen of 24 lines. */
export function renderMainHelp(
  command: Command,
  { program, groups, isLong, widthColumns }: Help & { readonly groups: readonly Section[] },
): string {
  const [everyday, ...others] = groups;
  const more = others.flatMap(({ rows }) => rows.map(([name]) => name));
  const sections = isLong
    ? [...groups, ...groupFlags([...command.flags, ...MAIN_FLAGS])]
    : [
        ...(everyday === undefined ? [] : [everyday]),
        { title: 'Options', rows: command.flags.filter(isUsual).map(toRow) },
      ];
  const end = isLong
    ? [`Also: run, mcp, schema, completion. About one command: ${program} help scan`, EXIT_STATUS, LIBRARY]
    : [`More commands: ${more.join(', ')}`, `All options: ${program} --help. About one command: ${program} help scan`];
  return join([
    ['Usage: compact [options] <transcript...>', '       compact <command> …', ''],
    wrapText(PURPOSE, widthColumns),
    [''],
    laySections(sections, widthColumns),
    end.flatMap((line) => wrapText(line, widthColumns)),
  ]);
}

const PURPOSE = 'Replaces old messages of stored conversations by a summary; nothing is lost.';
const EXIT_STATUS = 'Exit codes: 0 done, 1 something failed, 2 usage, 69 wrong Node, 130 interrupted.';
const LIBRARY = 'Also a library for Node: compact-transcript has compactFile, compactMessages, …';
const MAIN_FLAGS: readonly Flag[] = [
  { flags: '-V, -h', description: 'show the version (--version) or help (--help)', group: 'Output' },
];

/** The help of a command, or of one of its actions. `words`: the line, which may name an action. */
export function renderCommandHelp(
  command: Command,
  asked: Help & { readonly name: string; readonly summary: string; readonly words: readonly string[] },
): string {
  const { program, words, isLong, widthColumns } = asked;
  const { actions = [], operands, flags, examples } = command;
  const action = actions.find(({ name }) => words.includes(name));
  const name = action === undefined ? asked.name : `${asked.name} ${action.name}`;
  const isOfOthers = (flag: Flag): boolean => actions.some((other) => other.flags.includes(flag));
  const known = flags.filter((flag) => action === undefined || action.flags.includes(flag) || !isOfOthers(flag));
  const shown = (isLong ? known : known.filter(isUsual)).map((flag) =>
    describeFlag(flag, action === undefined ? actions : []),
  );
  const taken = action?.takes ?? [operands].flat();
  const args = taken
    .filter(({ choices }) => actions.length === 0 || choices === undefined)
    .map(({ syntax, description, choices }): Row => [
      syntax.replaceAll(/[<>[\].]/g, ''),
      description + listChoices(choices),
    ]);
  const own = examples.filter(([line]) => action === undefined || line.includes(` ${name}`));
  const sections = [
    ...(action === undefined ? [{ title: 'Actions', rows: actions.map((one): Row => [one.name, one.summary]) }] : []),
    { title: 'Arguments', rows: args },
    ...groupFlags(actions.length > 0 && action === undefined && !isLong ? [] : shown, 'What to read'),
    {
      title: 'Examples',
      rows: own.map(([line, meaning]): Row => [line.replace(/^compact(?= )/, () => program), meaning]),
    },
  ].filter(({ rows }) => rows.length > 0);
  const usage = ['Usage: compact', name, '[options]', ...taken.map(({ syntax }) => syntax)].join(' ');
  const summary = action?.summary ?? asked.summary;
  return join([
    [usage, ''],
    wrapText(`${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`, widthColumns),
    ...sections.map((section) => ['', ...laySections([section], widthColumns)]),
    isLong ? [] : ['', `All options: ${program} ${name} --help`],
  ]);
}

function join(parts: readonly (readonly string[])[]): string {
  return `${parts.flat().join('\n')}\n`;
}

/** With the actions that take it, where not all do: 'for erase and prune: …'. */
export function describeFlag(flag: Flag, actions: readonly ActionHelp[]): Flag {
  const takers = actions.filter(({ flags }) => flags.includes(flag)).map(({ name }) => name);
  const all = takers.join(', ').replace(/, ([^,]*)$/, ' and $1');
  const isMarked = takers.length > 0 && flag.group === undefined;
  return isMarked ? { ...flag, description: `for ${all}: ${flag.description}` } : flag;
}

function isUsual({ isRare }: Flag): boolean {
  return isRare !== true;
}

/** Sections in the order of the groups; what belongs to this command alone comes first. */
function groupFlags(flags: readonly Flag[], input: string = FLAG_GROUPS[0]): readonly Section[] {
  const groups = [undefined, ...FLAG_GROUPS].map((group) => ({
    title: group === undefined ? 'Options' : group === FLAG_GROUPS[0] ? input : group,
    rows: flags.filter((flag) => flag.group === group).map(toRow),
  }));
  return groups.filter(({ rows }) => rows.length > 0);
}

function toRow({ flags, description, choices, default: usual }: Flag): Row {
  return [flags, description + listChoices(choices) + (usual === undefined ? '' : ` (default: ${usual})`)];
}

/** ': always, never, auto', for the end of a description. */
export function listChoices(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : `: ${choices.join(', ')}`;
}

const MIN_TEXT_COLUMNS = 30; // below this, text becomes a column of words

/** Each format's name as `--format` takes it, then its description, and how it was tested. */
export function renderFormats(formats: readonly Format[], { theme, widthColumns }: Rendering): readonly string[] {
  const nameColumns = Math.max(0, ...formats.map(({ name }) => textWidth(name)));
  const textColumns = Math.max(MIN_TEXT_COLUMNS, widthColumns - nameColumns - 2);
  return formats.flatMap(({ name, summary, checked }) => {
    const about = wrapText(safeText(summary), textColumns);
    const proof = wrapText(safeText(`checked: ${checked}`), textColumns).map(theme.faint);
    return [...about, ...proof].map((line, index) =>
      index === 0 ? `${theme.strong(name.padEnd(nameColumns))}  ${line}` : `${' '.repeat(nameColumns + 2)}${line}`,
    );
  });
}
