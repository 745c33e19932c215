import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from '../../src/cli/line/parse.ts';
import { FACTS, refused } from './command-lines.ts';

for (const [line, message] of [
  ['--jsno f', "unknown option '--jsno': did you mean --json?"],
  ['score -o x f', "unknown option '-o'"],
  [
    '--frobnicate f',
    "unknown option '--frobnicate': compact takes --dry-run, --preview, --in-place, --output, --if-over, --older-than, --target, --provider, …",
  ],
  ['scan --chunk-size 5', /^unknown option '--chunk-size': compact scan takes --larger-than, --older-than/],
  ['-z f', "unknown option '-z'"],
  ['--keep-recent -1 f', /--keep-recent cannot be '-1'.*whole number of 0 or more: 30000, 100_000, 30k, 1.5M$/],
  ['--keep-recent 1.5 f', /whole number of 0 or more/],
  ['--chunk-size 0 f', /whole number of 1 or more/],
  ['--target 1e3 f', /whole number of 1 or more/],
  ['--if-over 99999999999999999999 f', /whole number of 1 or more/],
  ['score --limit x f', /whole number of 1 or more/],
  [
    '--provider extractiv f',
    /did you mean extractive\? \(extractive, anthropic, openai, openai-compat, ollama, claude\)$/,
  ],
  ['--provider cluade f', /did you mean claude\?/],
  ['--model= f', /It must be a model's name/],
  ['--preview -n f', /cannot be used with/],
  ['--preview -o x f', /cannot be used with/],
  ['--preview -i f', /cannot be used with/],
  ['--min-retention 90 f', /It must be a share from 0 to 1, or a percentage: 0\.9 or 90%\.?$/],
  ['--min-retention 101% f', /share from 0 to 1/],
  ['--min-retention -1 f', /share from 0 to 1/],
  ['--min-retention 1e-1 f', /share from 0 to 1/],
  ['restore --captured f --partial', /^--partial is for compacted transcripts/],
  ['-j 0 f', /whole number of 1 or more/],
  ['--color blue f', /always, never, auto/],
  ['score --sort up f', /score, position/],
  ['-o', "option '-o, --output <path>' needs a value"],
  ['-o --json f', "option '-o, --output <path>' needs a value, and '--json' is an option"],
  ['-i -o x f', /cannot be used with/],
  ['--if-over 5 --if-over-budget f', /cannot be used with/],
  ['-q -v f', /cannot be used with/],
  ['--json', /no transcript named/],
  ['run', /no transcript named/],
  ['score', 'no transcript given'],
  ['restore', /no compacted file named/],
  ['restore a b', /several transcripts cannot share standard output/],
  ['restore --files-from x', /several transcripts cannot share standard output/],
  ['restore -i - --files-from -', /--in-place cannot replace standard input/],
  ['report', /^no file/],
  ['report --all --limit 3 x', /cannot be used with/],
  ['undo -i x.jsonl', /unknown option '-i'/],
  ['undo x.jsonl', /'x\.jsonl' is not the number of a run/],
  ['undo --list 3', /--list takes no run/],
  ['undo --list -n', /cannot be used with/],
  ['config', 'no action given: it must be one of show, path, init, get, set, edit, trust'],
  [
    'schema nothing',
    /^the command cannot be 'nothing'\. It must be one of compact, score, .*, archive-check, .*, run$/,
  ],
  ['search', 'no query given'],
  ['search --messages --batches x', /cannot be used with/],
  ['search --limit 0 x', /^--limit cannot be '0'\. It must be a whole number of 1 or more/],
  ['search --since tomorrow x', /a day \(2026-03-02, yesterday\), a time \(2026-03-02T09:30Z\) or an age/],
  ['search --until 2026-02-30 x', /a day \(2026-03-02, yesterday\)/],
  ['search --role model x', /user, assistant, system, tool/],
  ['search --role user --batches x', /cannot be used with/],
  ['search -x', "unknown option '-x'; put text that begins with a dash after --"],
  [
    'search --newst x',
    "unknown option '--newst': did you mean --newest? If not, put text that begins with a dash after --",
  ],
  ['show a b', /too many arguments/],
  ['archive', /^no action given: it must be one of list, runs, log, stats/],
  ['archive lst', /^the action cannot be 'lst'\. It must be one of list, runs, log, stats, .*: did you mean list\?$/],
  ['capture --remove', '--remove needs --older-than 90d, or the files that it may remove'],
  ['archive list --frob', "unknown option '--frob': compact archive list has no options of its own"],
  ['archive delete', /: did you mean erase\?$/],
  [
    'archive erase ezoic',
    /^archive erase takes no 'ezoic': --match ezoic selects lines that contain it, --conversation/,
  ],
  ['archive erase --match x -n', "unknown option '-n': without --yes, it only lists what it would remove"],
  [
    'archive erase --query x',
    /^unknown option '--query': compact archive erase takes --conversation, --source, --match,/,
  ],
  ['resume --to codex', "unknown option '--to', which is for 'compact handoff'"],
  ['config sho', /show, path, init, get, set, edit, trust: did you mean show\?$/],
  ['--color alway f', /^--color cannot be 'alway'\. It must be one of always, never, auto: did you mean always\?$/],
  ['help scroe', "there is no command 'scroe': did you mean score?"],
  ['- f', /must be the only input/],
  ['-i -', /--in-place cannot replace standard input/],
  ['-o - a b', /several transcripts cannot share standard output/],
  ['--json -', /--json and the result cannot share standard output/],
  ['--json -o - f', /--json and the result cannot share standard output/],
  ['--older-than 30d -', /--older-than may leave the transcript out, so its result cannot go to standard output/],
  ['--shard 0/4 f', /^--shard cannot be '0\/4'\. It must be I\/N, with I from 1 to N: .*\. Shards count from 1$/],
  ['--shard 5/4 f', /^--shard cannot be '5\/4'\. It must be I\/N, with I from 1 to N: --shard 2\/4 is .* four parts$/],
  ['--shard abc f', /^--shard cannot be 'abc'\. It must be I\/N/],
  ['--shard 1/0 f', /^--shard cannot be '1\/0'\. It must be I\/N/],
  ['--shard 1/2/3 f', /^--shard cannot be '1\/2\/3'\. It must be I\/N/],
  ['--shard 1/2 -', '--shard divides files, not standard input (-)'],
  ['work f', 'transcripts are named with --add, which adds a job for each'],
  ['work --add', 'no transcript named: --add takes files, folders or globs'],
  ['work --add -', 'jobs are for files, not for standard input (-)'],
  ['work --add --model m f', /^a job does not say which model summarizes: give --provider, .* to the workers$/],
  ['work --add --max-cost 5 f', /^a job does not say .* and --max-cost to the workers$/],
  [
    'work --status --concurrency 3',
    /^--folder, --concurrency, --keep-running, --metrics, --archive-wait and --grace are for a worker/,
  ],
  [
    'work --add --keep-running f',
    /^--folder, --concurrency, --keep-running, --metrics, --archive-wait and --grace are for a worker/,
  ],
  ['work --status --retry', /cannot be used with/],
  ['restore --json f', /--json and the result cannot share standard output/],
  ['restore -i -', /--in-place cannot replace standard input/],
  ['score - -', /only once/],
  ['scan -', 'a scan looks into folders, not into standard input (-)'],
  ['scan -0 --json', /cannot be used with/],
  ['scan --larger-than 5QB', /It must be a size: 500000, 500kB, 5MB/],
  ['scan --older-than 30m', /30m could be minutes or months: write 30min or 30mo/],
  ['scan --older-than soon', /a day \(2026-03-02, yesterday\), a time .* or an age \(12h, 7d/],
  ['verify', /no compacted file named/],
  ['verify --files-from - -', /only once/],
  ['--files-from - -', /must be the only input/],
  ['--files-from x -o -', /several transcripts cannot share standard output/],
] as const) {
  test(`'compact ${line}' is refused`, async () => {
    const found = await refused(...line.split(' '));
    if (typeof message === 'string') assert.equal(found, message);
    else assert.match(found, message);
  });
}

test('a refusal names the command whose help explains it', async () => {
  const result = await parseArguments(['score', '--what', 'f'], FACTS);
  assert.deepEqual(result.ok || result.error, {
    message: "unknown option '--what': compact score takes --explain, --all, --message, --limit, --sort, --target, …",
    command: 'compact score',
  });
  const action = await parseArguments(['archive', '--archive', 'x.db', 'prune', '--what'], FACTS);
  assert.equal(action.ok ? '' : action.error.command, 'compact archive prune');
});
