// The main step of action.yml: compacts what the inputs name, and tells the job by annotations, outputs and a summary.
import { spawnSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const { PATHS = '', IF_OVER = '', OLDER_THAN = '', ARCHIVE = '', VERIFY = '' } = process.env;
const paths = PATHS.split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '');
const archive = ['--archive', ARCHIVE];

/** Runs compact, and reads its reports: a line of JSON for each transcript. */
function compact(...argv) {
  const { status, error, stdout } = spawnSync('compact', argv, {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
  });
  if (error !== undefined) throw error;
  return {
    code: status ?? 1,
    reports: stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  };
}

/** A message at a file. A line break or colon in it would end it too early. */
function annotate(level, file, message) {
  const escape = (text) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = escape(file).replaceAll(':', '%3A').replaceAll(',', '%2C');
  process.stdout.write(`::${level} file=${property}::${escape(message)}\n`);
}

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

const conditions = [
  ...(IF_OVER === '' ? [] : ['--if-over', IF_OVER]),
  ...(OLDER_THAN === '' ? [] : ['--older-than', OLDER_THAN]),
];
const run = compact('-i', '--json', ...conditions, ...archive, '--', ...paths);
const of = (result) => run.reports.filter((report) => report.result === result);
const compacted = of('compacted');
for (const { file, error } of of('failed')) annotate('error', file, error.message);
for (const { file, notes } of run.reports.filter(({ reason }) => reason === 'bad-line'))
  annotate('warning', file, notes.join('; '));

const files = compacted.map(({ output }) => output);
const proof = VERIFY === 'true' && files.length > 0 ? compact('verify', '--json', ...archive, '--', ...files) : null;
for (const { file, problems = [], error } of proof?.reports ?? [])
  for (const problem of error === undefined ? problems : [error])
    annotate('error', file, problem.message ?? String(problem));

const tokens = (when) => sum(compacted.flatMap(({ conversations }) => conversations.map((one) => one.tokens[when])));
const outputs = {
  compacted: compacted.length,
  skipped: of('skipped').length,
  failed: of('failed').length,
  'bytes-before': sum(compacted.map(({ bytes }) => bytes.before)),
  'bytes-after': sum(compacted.map(({ bytes }) => bytes.after)),
  'tokens-before': tokens('before'),
  'tokens-after': tokens('after'),
};
const lines = Object.entries(outputs).map(([name, value]) => `${name}=${value}\n`);
appendFileSync(process.env.GITHUB_OUTPUT, lines.join(''));

/** A cell of a table: a name may have what Markdown or HTML would read. */
const cell = (text) =>
  text.replaceAll(/[\\|`*_<>[\]&]/g, (letter) => `&#${letter.charCodeAt(0)};`).replaceAll(/\s/g, ' ');
const number = (value) => value.toLocaleString('en');
/** A summary may have 1 MiB; the largest gains come first. */
const MAX_ROWS = 100;
const gain = ({ bytes }) => bytes.before - bytes.after;
const rows = compacted
  .toSorted((a, b) => gain(b) - gain(a))
  .map(({ file, bytes, conversations }) => {
    const of = (when) => number(sum(conversations.map((one) => one.tokens[when])));
    return `| ${cell(file)} | ${number(bytes.before)} → ${number(bytes.after)} | ${of('before')} → ${of('after')} |`;
  });
const shown = rows.slice(0, MAX_ROWS);
const proved = proof === null ? '' : proof.code === 0 ? ' Each of them was verified.' : ' **Verification failed.**';
const summary = [
  '### compact',
  '',
  `${number(outputs.compacted)} compacted, ${number(outputs.skipped)} skipped, ${number(outputs.failed)} failed.${proved}`,
  '',
  '| transcript | bytes | tokens |',
  '|---|---|---|',
  ...shown,
  ...(rows.length > shown.length ? [`| and ${number(rows.length - shown.length)} more | | |`] : []),
  `| **all** | ${number(outputs['bytes-before'])} → ${number(outputs['bytes-after'])} | ${number(outputs['tokens-before'])} → ${number(outputs['tokens-after'])} |`,
  '',
];
appendFileSync(process.env.GITHUB_STEP_SUMMARY, `${summary.join('\n')}\n`);
process.exitCode = run.code === 0 ? (proof?.code ?? 0) : run.code;
