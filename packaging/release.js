// Makes everything that a publisher needs, in the folder `release`, and proves it: npm run release [-- package | one-file]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const release = join(root, 'release');
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function run(command, ...argv) {
  process.stderr.write(`${[command, ...argv].join(' ').replaceAll(root, '')}\n`);
  return execFileSync(command, argv, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  });
}

const node = (...argv) => run(process.execPath, ...argv);
const npm = (...argv) => node(process.env.npm_execpath, ...argv);

/** The package for npm, its bill of materials, and what the changelog says of this version, or of the next one. */
function makePackage() {
  npm('pack', '--silent', '--pack-destination', release);
  writeFileSync(join(release, `${name}-${version}.cdx.json`), node('packaging/sbom.js'));
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^(?=## \[)/m);
  const notes = [version, 'Unreleased'].flatMap((title) =>
    sections.filter((one) => one.startsWith(`## [${title}]`)),
  )[0];
  if (notes === undefined) throw new Error(`CHANGELOG.md says nothing of ${version}`);
  writeFileSync(join(release, 'NOTES.md'), notes.replaceAll(/^\[.*\]: http.*\n/gm, ''));
}

/** The program with Node inside, and an archive of it with what belongs beside it. */
function makeOneFile() {
  const file = node('packaging/one-file/build.js', release).trim();
  const isWindows = process.platform === 'win32';
  const folder = join(release, 'unpacked');
  mkdirSync(folder);
  cpSync(file, join(folder, isWindows ? 'compact.exe' : 'compact'));
  for (const path of ['LICENSE', 'README.md', 'docs/compact.1'])
    cpSync(join(root, path), join(folder, path.replace(/.*\//, '')));
  const archive = isWindows ? file.replace(/\.exe$/, '.zip') : `${file}.tar.xz`;
  // Level 1: the others take minutes for a tenth less.
  process.env.XZ_OPT = '-1';
  run('tar', '-C', folder, '-caf', archive, ...readdirSync(folder));
  rmSync(folder, { recursive: true });
}

function listChecksums() {
  const lines = readdirSync(release).map((file) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(release, file)))
      .digest('hex');
    return `${sum}  ${file}\n`;
  });
  writeFileSync(join(release, 'SHA256SUMS'), lines.join(''));
}

const parts = { package: makePackage, 'one-file': makeOneFile };
const wanted = process.argv.slice(2);
const unknown = wanted.find((part) => !Object.hasOwn(parts, part));
if (unknown !== undefined) throw new Error(`there is no part ${unknown}: name ${Object.keys(parts).join(' or ')}`);
rmSync(release, { recursive: true, force: true });
mkdirSync(release);
for (const [part, make] of Object.entries(parts)) if (wanted.length === 0 || wanted.includes(part)) make();
listChecksums();
const proofs = { package: 'the package|checksums', 'one-file': 'one file|native' };
const patterns = wanted.map((part) => `--test-name-pattern=${proofs[part]}`);
execFileSync(process.execPath, ['--test', ...patterns, 'test/install/release.ts'], { cwd: root, stdio: 'inherit' });
