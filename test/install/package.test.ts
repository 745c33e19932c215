import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

// Needs `dist`: `npm test` builds first.
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'compact-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The package as npm would publish it, unpacked into `folder/package`. */
const tarball = readFileSync(pack());

function pack(): string {
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(packed.status, 0, packed.stderr);
  const path = join(folder, packed.stdout.trim());
  assert.equal(spawnSync('tar', ['-xzf', path, '-C', folder]).status, 0);
  return path;
}

const listed = spawnSync('tar', ['-tzf', '-'], { input: tarball, encoding: 'utf8' }).stdout;
const paths = listed
  .trim()
  .split('\n')
  .map((path) => path.replace(/^package\//, ''));

const bundled = paths.filter((path) => path.startsWith('dist/licenses/')).toSorted();

test('a package holds what runs and what is read, and neither tests nor notes of the compiler', () => {
  assert.deepEqual(
    paths
      .filter((path) => !/^dist\/chunks\/[\w~-]+\.js$|^dist\/.+\.d\.ts$|^npm-shrinkwrap\.json$/.test(path))
      .toSorted(),
    [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin/clients/opencode.js',
      'bin/clients/pi-package.js',
      'bin/clients/pi.js',
      'bin/compact.js',
      'bin/plugin/.claude-plugin/marketplace.json',
      'bin/plugin/.claude-plugin/plugin.json',
      'bin/plugin/.codex-plugin/plugin.json',
      'bin/plugin/.mcp.json',
      'bin/plugin/hooks/hooks.json',
      'bin/plugin/skills/find-earlier-conversations/SKILL.md',
      'bin/prepare.js',
      'config.schema.json',
      'config.toml.example',
      'dist/cli/hook.js',
      'dist/cli/main.js',
      'dist/cli/worker.js',
      'dist/index.js',
      ...bundled,
      'docs/compact.1',
      'package.json',
    ],
  );
});

test('a package carries the license of each package in its bundle, and the bill names it', () => {
  const packages = bundled.map((path) => path.slice('dist/licenses/'.length, -'.txt'.length));
  for (const name of ['commander', 'openai', '@anthropic-ai/sdk']) assert.ok(packages.includes(name), name);
  const bill = JSON.parse(execFileSync(process.execPath, ['packaging/sbom.js'], { cwd: root, encoding: 'utf8' }));
  const names = bill.components.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(
    packages.filter((name) => !names.includes(name)),
    [],
  );
  assert.ok(names.includes('better-sqlite3') && !names.includes('typescript'));
  assert.equal(names.length, new Set(names).size);
});

test('a package holds only the declarations that its types need', () => {
  const declarations = paths.filter((path) => path.endsWith('.d.ts'));
  assert.ok(declarations.includes('dist/index.d.ts') && declarations.includes('dist/core/batch.d.ts'));
  assert.deepEqual(
    declarations.filter((path) => path.startsWith('dist/cli/')),
    [],
  );
});

test('publint finds nothing wrong with the package', async () => {
  const { messages, pkg } = await publint({ pkgDir: join(folder, 'package'), pack: false, strict: true });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
});

test('the types of the package resolve for ES modules in Node and for bundlers', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(tarball));
  assert.ok(analysis.types !== false, 'the package has no types');
  // The package is for ES modules only: the resolutions of CommonJS are left out.
  const problems = analysis.problems.filter(
    (problem) => !('resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind)),
  );
  assert.deepEqual(problems, []);
});

test('the library of the package can be imported, with its packages installed beside it', () => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const script = `const library = await import(${JSON.stringify(join(folder, 'package/dist/index.js'))});
    console.log(library.estimateTokens('four words of text'));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(stdout, '5\n');
});

test('a project with the package installed compiles with its types, and uses it from an ES module and from CommonJS', () => {
  const project = join(folder, 'project');
  cpSync(join(root, 'fixtures/library-example'), project, { recursive: true });
  installInto(project);
  const lines = Array.from({ length: 40 }, (_, index) => {
    const content = `Message ${index}: the pump in hall ${index} delivers ${index * 7} liters. `.repeat(8);
    return `${JSON.stringify({ role: index % 2 === 0 ? 'user' : 'assistant', content })}\n`;
  });
  writeFileSync(join(project, 'session.jsonl'), lines.join(''));
  const run = (...argv: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: project, encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, ''], stdout);
    return stdout;
  };
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  for (const name of ['node16', 'bundler', 'nodenext']) assert.equal(run(compiler, '-p', `tsconfig.${name}.json`), '');
  assert.deepEqual(run('out/main.js', 'session.jsonl').trim().split('\n'), [
    'compacted true',
    'verified 0',
    '3 message',
    'true',
    'planned',
    'not-found',
  ]);
  assert.equal(run('out/common.cjs'), 'verified\n');
});

/** The package's files, and links to the packages that it depends on: what `npm install` does, without the network. */
function installInto(project: string): void {
  const modules = join(project, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  cpSync(join(folder, 'package'), join(modules, 'compact-transcript'), { recursive: true });
}
