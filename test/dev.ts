import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

/**
 * What developers run now and then, by name: npm run dev -- NAME [arguments]
 * Without a name it lists them.
 */
type Task = { readonly what: string; readonly node: readonly string[]; readonly needsBuild?: true };

const SEEDED = ['--import', './test/support/seed.ts', '--test'];

const TASKS: Readonly<Record<string, Task>> = {
  properties: {
    what: 'all random cases of the properties that take long, and new ones each time',
    node: [...SEEDED, ...globSync('test/{adapters,app,cli,contract,core}/**/*.test.ts').filter(hasProperties)],
  },
  'unit:random': { what: 'the tests with other random cases', node: ['test/unit.ts'] },
  'bench:search': { what: 'the speed of search in a large archive', node: ['test/bench/archive-search.ts'] },
  'kills:batches': {
    what: 'kills the program while a mock provider works on its batches',
    node: ['test/bench/batches.ts'],
  },
  'kills:workers': {
    what: 'lets 8 workers share 200 transcripts and kills one every 5 seconds',
    node: ['test/bench/workers.ts'],
    needsBuild: true,
  },
  'kills:writers': {
    what: 'lets other programs write to files while they are replaced',
    node: ['test/writers/run.ts'],
  },
  redaction: { what: 'the share of made-up secrets that is masked', node: ['test/redaction/run.ts'] },
  'test:producers': {
    what: 'lets the programs that write transcripts resume compacted ones',
    node: ['test/producers/run.ts'],
    needsBuild: true,
  },
  'test:browser': {
    what: 'opens pages of `compact report` in a browser',
    node: ['--test', 'test/browser/pages.ts'],
    needsBuild: true,
  },
  'docs:performance': { what: 'writes docs/performance.md', node: ['test/docs/performance.ts'] },
  'docs:picture': {
    what: 'draws the pictures in the README (needs Chromium)',
    node: ['test/docs/picture.ts'],
    needsBuild: true,
  },
};
function hasProperties(file: string): boolean {
  return readFileSync(file, 'utf8').includes('runsOf(');
}

/** Tasks that try other cases each time. */
const RANDOM: readonly string[] = ['properties', 'unit:random'];

const [name = '', ...rest] = process.argv.slice(2);
const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined;
if (task === undefined) {
  if (name !== '') console.error(`there is no task ${name}`);
  console.log('npm run dev -- NAME [arguments], where NAME is one of');
  for (const [one, { what }] of Object.entries(TASKS)) console.log(`  ${one.padEnd(18)} ${what}`);
  process.exitCode = name === '' ? 0 : 2;
} else {
  const build = ['bin/build-schemas.ts', 'bin/build.js'].map((file) => [file]);
  const environment = RANDOM.includes(name)
    ? { FC_SEED: 'random', ...(name === 'properties' && { ALL_RUNS: '1' }) }
    : {};
  for (const args of [...(task.needsBuild === true ? build : []), [...task.node, ...rest]]) {
    const env = { ...process.env, ...environment };
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env });
    if (status === 0) continue;
    process.exitCode = status ?? 1;
    break;
  }
}
