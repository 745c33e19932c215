// The licenses of the packages whose code is in a bundle.
import { readdirSync, readFileSync } from 'node:fs';

const modules = new URL('../node_modules/', import.meta.url);

/** Their names. `chunks`: what rolldown has made. */
export function packagesIn(chunks) {
  const ids = chunks.flatMap(({ moduleIds = [] }) => moduleIds);
  const found = ids.flatMap((id) => /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1] ?? []);
  return new Set(found.map((name) => name.replaceAll('\\', '/')));
}

export function licenseOf(name) {
  const folder = new URL(`${name}/`, modules);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file !== undefined) return readFileSync(new URL(file, folder), 'utf8');
  const { license, author } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
  return `${name} by ${author?.name ?? author ?? 'its authors'}: ${license}\n`;
}
