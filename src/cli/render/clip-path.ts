import { textWidth } from './width.ts';

/** At most `columns` wide: of a path that is longer its end stands, which says more. */
export function clipPath(path: string, columns: number): string {
  if (textWidth(path) <= columns) return path;
  const kept: string[] = [];
  let width = 1;
  for (const character of Array.from(path).toReversed()) {
    width += textWidth(character);
    if (width > columns) break;
    kept.unshift(character);
  }
  return `…${kept.join('')}`;
}
