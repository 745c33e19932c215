// Prints a CycloneDX bill of what an installation contains: the runtime dependencies, and the packages that the bundle carries.
// Needs `dist`, which has the license of each bundled package.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

const list = (...argv) => {
  const command = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', ...argv];
  return JSON.parse(execFileSync('npm', command, { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 }));
};
const bill = list('--omit=dev');
const all = list();

const licenses = globSync('**/*.txt', { cwd: new URL('dist/licenses/', root) });
const { packages } = read('package-lock.json');
const names = licenses.map((path) => path.replace(/\.txt$/, '').replaceAll('\\', '/'));
const bundled = new Set(names.map((name) => `${name}@${packages[`node_modules/${name}`].version}`));

const installed = new Set(bill.components.map((component) => component['bom-ref']));
for (const component of all.components) {
  const ref = component['bom-ref'];
  if (bundled.has(ref) && !installed.has(ref)) bill.components.push({ ...component, properties: [] });
}
const refs = new Set([bill.metadata.component['bom-ref'], ...bill.components.map((component) => component['bom-ref'])]);
bill.dependencies = all.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
// npm takes the folder's name.
bill.metadata.component.name = read('package.json').name;
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
