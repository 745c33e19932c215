import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { validateWorkflow } from '@action-validator/core';
import { parse } from 'yaml';
import { createShell, ROOT } from '../docs/shell.ts';
import { folderWith } from '../support/folders.ts';

const FIXTURE = join(ROOT, 'fixtures/transcripts/claude-code/session.jsonl');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A machine with a folder of sessions, where `compact` is on the PATH. */
function machine(t: TestContext, names: readonly string[]) {
  const folder = folderWith(t, {});
  const shell = createShell(folder);
  const sessions = join(shell.home, '.claude/projects/-home-kim');
  mkdirSync(sessions, { recursive: true });
  mkdirSync(join(folder, 'archive'));
  for (const name of names) {
    cpSync(FIXTURE, join(sessions, name));
    utimesSync(join(sessions, name), 0, 0);
  }
  const sizes = () => names.map((name) => readFileSync(join(sessions, name)).length);
  return { ...shell, folder, sessions, sizes };
}

for (const path of readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`)) {
  test(`${path} is valid, and calls scripts that exist`, () => {
    const text = read(path);
    assert.deepEqual(validateWorkflow(text).errors, []);
    const { scripts } = JSON.parse(read('package.json'));
    const called = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    assert.deepEqual(
      called.filter((name) => !Object.hasOwn(scripts, name)),
      [],
    );
    for (const [, file = ''] of text.matchAll(/(?:bash|node) ([\w./]+\/[\w.]+)/g))
      assert.ok(existsSync(join(ROOT, file)), file);
  });
}

test('an issue asks for the output of a command that exists', () => {
  for (const name of readdirSync(join(ROOT, '.github/ISSUE_TEMPLATE'))) {
    const form = parse(read(`.github/ISSUE_TEMPLATE/${name}`));
    assert.ok(form.name !== '' && form.description !== '' && form.body.length > 0, name);
    assert.match(JSON.stringify(form.body), /compact --version --verbose/, name);
  }
});

/** A limit that the fixture exceeds. */
const lower = (command: string): string => command.replace('--if-over 100k', '--if-over 1k');

test('the units of systemd are right, and their command compacts what rests', (t) => {
  const { folder, home, run, sizes } = machine(t, ['old.jsonl']);
  const service = read('packaging/systemd/compact.service');
  const [, command = ''] = /^ExecStart=(.+)$/m.exec(service) ?? [];
  const before = sizes();
  const { code, output } = run(lower(command.replaceAll('%h', home)));
  assert.equal(code, 0, output);
  assert.ok((sizes()[0] ?? 0) < (before[0] ?? 0), output);
  const units = ['compact.service', 'compact.timer'].map((name) => {
    cpSync(join(ROOT, 'packaging/systemd', name), join(folder, name));
    return join(folder, name);
  });
  const verified = spawnSync('systemd-analyze', ['verify', '--user', ...units], {
    env: { ...process.env, XDG_RUNTIME_DIR: folder },
    encoding: 'utf8',
  });
  if (verified.error !== undefined) t.diagnostic('systemd-analyze is not installed: the units were not verified');
  else assert.deepEqual([verified.status, verified.stderr], [0, '']);
});

/** The elements of a small XML document, with their texts; an element that is not closed in its turn is an error. */
function readXml(text: string): readonly { readonly name: string; readonly text: string }[] {
  const open: { name: string; from: number }[] = [];
  const elements: { name: string; text: string }[] = [];
  for (const { 0: tag, index } of text
    .replaceAll(/<!--.*?-->|<[?!].*?>/gs, (all) => ' '.repeat(all.length))
    .matchAll(/<[^>]*>/g)) {
    if (!tag.startsWith('</')) {
      assert.match(tag, /^<[a-z]+( version="1\.0")?>$/);
      open.push({ name: /\w+/.exec(tag)?.[0] ?? '', from: index + tag.length });
      continue;
    }
    const last = open.pop();
    assert.equal(tag, `</${last?.name}>`);
    elements.push({ name: last?.name ?? '', text: text.slice(last?.from, index) });
  }
  assert.deepEqual(open, []);
  return elements;
}

test('the property list of launchd is right, and its command compacts what rests', (t) => {
  const elements = readXml(read('packaging/launchd/compact.plist'));
  const keys = elements.filter(({ name }) => name === 'key').map((one) => one.text);
  assert.deepEqual(keys.slice(0, 3), ['Label', 'ProgramArguments', 'StartCalendarInterval']);
  const [, shell, option, script = ''] = elements.filter(({ name }) => name === 'string').map((one) => one.text);
  assert.deepEqual([shell, option], ['/bin/sh', '-c']);
  assert.doesNotMatch(script, /&/);
  const { run, sizes } = machine(t, ['old.jsonl']);
  const before = sizes();
  const { code, output } = run(lower(script));
  assert.equal(code, 0, output);
  assert.ok((sizes()[0] ?? 0) < (before[0] ?? 0), output);
});

type Container = {
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
};
type Pod = { readonly containers: readonly [Container]; readonly volumes: readonly { readonly name: string }[] };

/** What the schema of a Job asks for, and what each mount needs. */
function checkPod({ containers: [container], volumes }: Pod): Container {
  assert.deepEqual(container.command, ['/bin/sh', '-c']);
  assert.equal(container.securityContext.readOnlyRootFilesystem, true);
  const names = volumes.map(({ name }) => name);
  for (const { name } of container.volumeMounts) assert.ok(names.includes(name), name);
  return container;
}

test('the job of Kubernetes divides the files among its pods', (t) => {
  const job = parse(read('packaging/kubernetes/job.yaml'));
  assert.deepEqual([job.apiVersion, job.kind, job.spec.completionMode], ['batch/v1', 'Job', 'Indexed']);
  const { args } = checkPod(job.spec.template.spec);
  const names = Array.from({ length: 5 }, (_, index) => `session-${index}.jsonl`);
  const { folder, run, sessions, sizes } = machine(t, names);
  const before = sizes();
  const script = (args[0] ?? '')
    .replaceAll('/work', sessions)
    .replaceAll('/archive', join(folder, 'archive'))
    .replace(/^exec /, '');
  const line = `for JOB_COMPLETION_INDEX in $(seq 0 ${job.spec.completions - 1}); do ${script}; done`;
  const { code, output } = run(line);
  assert.equal(code, 0, output);
  for (const [index, size] of sizes().entries()) assert.ok(size < (before[index] ?? 0), output);
  assert.ok(readdirSync(join(folder, 'archive')).length > 1);
});

test('the cron job of Kubernetes has what its schema asks for', () => {
  const cron = parse(read('packaging/kubernetes/cronjob.yaml'));
  assert.deepEqual([cron.apiVersion, cron.kind, cron.spec.schedule], ['batch/v1', 'CronJob', '17 3 * * *']);
  const { args } = checkPod(cron.spec.jobTemplate.spec.template.spec);
  // `npm run release` runs it, against a Postgres.
  assert.match(args[0] ?? '', /^compact work --add .*&&\nexec compact work --folder \/work /);
});

test('the image runs as a user without rights, and installs the package as it is published', () => {
  const lines = read('packaging/docker/Dockerfile').split('\n');
  const of = (word: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  assert.equal(of('FROM').length, 2);
  assert.deepEqual(
    [of('USER'), of('VOLUME'), of('ENTRYPOINT')],
    [['65532:65532'], ['/work /archive'], ['["compact"]']],
  );
  const build = of('RUN').slice(0, 3);
  assert.deepEqual(
    build.map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['npm ci', 'npm pack', 'npm install'],
  );
  assert.match(read('docs/install.md'), /docker build -f packaging\/docker\/Dockerfile /);
});

test('the formula installs what a release has', () => {
  const formula = read('packaging/homebrew/compact.rb');
  const urls = [...formula.matchAll(/compact-VERSION-(\w+-\w+)\.tar\.xz/g)].map(([, target]) => target);
  assert.deepEqual(urls, ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']);
  assert.deepEqual(
    [...formula.matchAll(/sha256 "SHA256_(\w+-\w+)"/g)].map(([, target]) => target),
    urls,
  );
});
