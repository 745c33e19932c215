import { PROVIDER_ALIASES, PROVIDERS } from '../../config/summarization.ts';
import { type Command, defineBareCommand, EXIT_CODES, type Flag } from '../line/command.ts';
import { namesOf, takesValue } from '../line/line.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

/** Prints a script that needs no `compact` to complete a word, so that the Tab key never waits for Node. `listCommands`: what can be completed, in order. */
export const createCompletionCommand = (listCommands: () => Promise<readonly Described[]>): Command =>
  defineBareCommand({
    operands: {
      syntax: '<shell>',
      description: 'the shell that will read the completions',
      choices: SHELLS,
    },
    flags: [],
    examples: [
      ['eval "$(compact completion bash)"', 'for this shell; in ~/.bashrc, for every one'],
      ['compact completion zsh > _compact', 'writes a file for a folder of fpath'],
    ],
    run: async (context, { operands: [name] }) => {
      const { listFormats } = await import('./compact.ts');
      const shell = SHELLS.find((one) => one === name) ?? 'bash';
      const formats = (await listFormats(context)).map(({ name }) => name);
      const values = { '--format': formats, '--provider': [...PROVIDERS, ...Object.keys(PROVIDER_ALIASES)] };
      context.terminal.stdout.write(writeCompletions(shell, await listCommands(), values));
      return EXIT_CODES.done;
    },
  });

type Described = { readonly name: string; readonly summary: string; readonly command: Command | null };

/** What can be completed after the name of a command. */
type Words = {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Option[];
  /** The values of the first operand, where there is a fixed set. */
  readonly first: readonly string[];
  readonly takesFiles: boolean;
};

type Option = {
  /** `-o` and `--output`, or only the long one. */
  readonly names: readonly string[];
  readonly description: string;
  readonly value: 'none' | 'file' | 'any' | readonly string[];
};

/** Values of flags that have no list of choices, by name: `--format`. */
type KnownValues = { readonly [flag: string]: readonly string[] };

/** Writes the script of a shell, from the definitions of the commands. */
function writeCompletions(shell: (typeof SHELLS)[number], commands: readonly Described[], values: KnownValues): string {
  return { bash, zsh, fish, powershell }[shell](describe(commands, values));
}

const HELP: Option = { names: ['-h', '--help'], description: 'show help', value: 'none' };
const VERSION: Option = { names: ['-V', '--version'], description: 'show the version', value: 'none' };

function describe(commands: readonly Described[], values: KnownValues): readonly Words[] {
  const words = commands.map(({ name, summary, command }): Words => {
    const operands = [command?.operands ?? []].flat();
    return {
      name,
      summary,
      options: [...(command?.flags ?? []).map((flag) => toOption(flag, values)), HELP],
      first: command === null ? commands.map((other) => other.name) : (operands[0]?.choices ?? []),
      takesFiles: operands.some(({ syntax }) => /transcript|compacted|folder|file/.test(syntax)),
    };
  });
  const usual = words.find(({ name }) => name === 'run');
  const first = commands.map(({ name }) => name);
  // A line without a command: the default one.
  const none = { name: '', summary: '', options: [...(usual?.options ?? []), VERSION], first, takesFiles: true };
  return [none, ...words];
}

function toOption(flag: Flag, values: KnownValues): Option {
  const known = namesOf(flag).flatMap((name) => values[name] ?? []);
  const isFile = /<(?:path|file|folder)>$/.test(flag.flags);
  const value = !takesValue(flag) ? 'none' : (flag.choices ?? (known.length > 0 ? known : isFile ? 'file' : 'any'));
  return { names: namesOf(flag), description: flag.description, value };
}

const NOTE = '# Completions of compact. Made by `compact completion`; make it again after an update.';

function namesWith(options: readonly Option[], value: 'file' | 'any'): readonly string[] {
  return options.filter((option) => option.value === value).flatMap(({ names }) => names);
}

function choicesOf(options: readonly Option[]): readonly (readonly [string, readonly string[]])[] {
  return options.flatMap(({ names, value }) => (Array.isArray(value) ? [[names.join('|'), value] as const] : []));
}

/** Works in bash 3.2, which macOS has. */
function bash(commands: readonly Words[]): string {
  const names = commands.map(({ name }) => name).filter((name) => name !== '');
  const cases = commands.map(({ name, options, first, takesFiles }) => {
    const values = [
      ...choicesOf(options).map(([flags, choices]) => `        ${flags}) words='${choices.join(' ')}' files= ;;`),
      `        ${namesWith(options, 'file').join('|') || "''"}) words= files=1 ;;`,
      `        ${namesWith(options, 'any').join('|') || "''"}) words= files= ;;`,
    ];
    return `    '${name}')
      flags='${options.flatMap((option) => option.names).join(' ')}' words='${first.join(' ')}' files=${takesFiles ? 1 : ''}
      case $previous in
${values.join('\n')}
        *) free=1 ;;
      esac ;;`;
  });
  return `${NOTE}
_compact() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command= flags= words= files= free= at IFS=$' \\t\\n'
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      ${names.join('|')}) command=\${COMP_WORDS[at]}; break ;;
      --) command=run; break ;;
    esac
  done
  case $command in
${cases.join('\n')}
  esac
  # A fixed operand comes right after the command.
  if [[ $free && $command && $previous != "$command" ]]; then words=; fi
  if [[ $free && $current == -* ]]; then words=$flags files=; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files ]]; then
    IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _compact compact compact-transcript
`;
}

function zsh(commands: readonly Words[]): string {
  const named = commands.filter(({ name }) => name !== '');
  const cases = commands.map(({ name, options, first, takesFiles }) => {
    const specs = options.map(zshOption);
    const operand = name === '' ? ['1:word:_compact_first'] : first.length > 0 ? [`1:word:(${first.join(' ')})`] : [];
    const rest = takesFiles ? ['*:file:_files'] : [];
    return `    ${quote(name)}) _arguments -s -S ${[...specs, ...[...operand, ...rest].map(quote)].join(' ')} ;;`;
  });
  return `#compdef compact compact-transcript
${NOTE}
_compact_first() {
  local -a commands=(${named.map(({ name, summary }) => quote(`${name}:${summary}`)).join(' ')})
  _describe command commands
  _files
}
_compact() {
  local command= at
  for ((at = 2; at < CURRENT; at++)); do
    case $words[at] in
      ${named.map(({ name }) => name).join('|')}) command=$words[at]; words[at]=(); (( CURRENT-- )); break ;;
      --) break ;;
    esac
  done
  case $command in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _compact ]]; then _compact "$@"; else compdef _compact compact compact-transcript; fi
`;
}

function zshOption({ names, description, value }: Option): string {
  const about = `[${description.replaceAll(/[[\]\\:]/g, String.raw`\$&`)}]`;
  const action =
    typeof value === 'string'
      ? { none: '', file: ':file:_files', any: ':value: ' }[value]
      : `:value:(${value.join(' ')})`;
  const [one = '', other] = names;
  if (other === undefined) return quote(`${one}${value === 'none' ? '' : '='}${about}${action}`);
  const end = value === 'none' ? '' : '=';
  return `${quote(`(${names.join(' ')})`)}{${one}${value === 'none' ? '' : '+'},${other}${end}}${quote(about + action)}`;
}

function fish(commands: readonly Words[]): string {
  const named = commands.filter(({ name }) => name !== '');
  const lines = commands.flatMap(({ name, options, first, takesFiles }) => {
    const start = `complete -c compact -n '__compact_in ${name === '' ? 'none' : name}'`;
    const operands = name === '' ? [] : first.map((word) => `${start} -a ${quote(word)}`);
    return [
      ...(takesFiles ? [`${start} -F`] : []),
      ...operands,
      ...options.map((option) => `${start} ${fishOption(option)}`),
    ];
  });
  return `${NOTE}
function __compact_in
  set -l found none
  for word in (commandline -opc)[2..-1]
    if contains -- $word ${named.map(({ name }) => name).join(' ')}
      set found $word
      break
    end
  end
  test $found = $argv[1]
end
complete -c compact -f
${named.map(({ name, summary }) => `complete -c compact -n '__compact_in none' -a ${name} -d ${quote(summary)}`).join('\n')}
${lines.join('\n')}
complete -c compact-transcript -w compact
`;
}

function fishOption({ names, description, value }: Option): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ');
  const kind =
    typeof value === 'string' ? { none: '', file: ' -r -F', any: ' -x' }[value] : ` -x -a '${value.join(' ')}'`;
  return `${flags}${kind} -d ${quote(description)}`;
}

function powershell(commands: readonly Words[]): string {
  const list = (words: readonly string[]): string => `@(${words.map(quotePowerShell).join(', ')})`;
  const tables = commands.map(({ name, options, first }) => {
    const values = choicesOf(options).flatMap(([flags, choices]) =>
      flags.split('|').map((flag) => `${quotePowerShell(flag)} = ${list(choices)}`),
    );
    const flags = options.flatMap((option) => option.names);
    return `    ${quotePowerShell(name)} = @{ first = ${list(first)}; flags = ${list(flags)}; values = @{ ${values.join('; ')} } }`;
  });
  return `${NOTE}
Register-ArgumentCompleter -Native -CommandName compact, compact-transcript -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $commands = @{
${tables.join('\n')}
  }
  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $name = @($before | Where-Object { $_ -and $commands.ContainsKey($_) })[0]
  $command = $commands["$name"]
  $previous = if ($before.Count) { $before[-1] } else { '' }
  $words = if ($command.values.ContainsKey($previous)) { $command.values[$previous] }
    elseif ($wordToComplete.StartsWith('-')) { $command.flags }
    elseif (-not $name -or $previous -eq $name) { $command.first }
    else { @() }
  # Without results, PowerShell completes the names of files.
  $words | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function quotePowerShell(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
