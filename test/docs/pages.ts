import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './shell.ts';

/** README.md and everything in docs/, as paths from the root. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .toSorted(),
];

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The contents of a page's fenced blocks of one language. */
export function readBlocks(page: string, language: string): readonly string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms');
  return [...readPage(page).matchAll(pattern)].map(([, block = '']) => block);
}

/** The anchors that a page's headings have on GitHub. */
export function readAnchors(page: string): readonly string[] {
  const headings = [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

export function isFileHere(path: string): boolean {
  return existsSync(join(ROOT, path));
}
