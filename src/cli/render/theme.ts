import type { Environment } from '../../config/find.ts';
import type { OutputOptions } from '../line/line.ts';

type Paint = (text: string) => string;

/** Colors by meaning. Texts must be made safe before they are painted. */
export type Theme = {
  readonly strong: Paint;
  readonly faint: Paint;
  readonly good: Paint;
  readonly warning: Paint;
  readonly bad: Paint;
  /** A word found by a search. */
  readonly match: Paint;
  /** The bar of a score. */
  readonly bar: Paint;
};

/** What every text for people depends on. */
export type Rendering = {
  readonly theme: Theme;
  /** Of the terminal; infinite: there is none, so that no line is wrapped. */
  readonly widthColumns: number;
};

const asIs: Paint = (text) => text;

export const PLAIN_THEME: Theme = {
  strong: asIs,
  faint: asIs,
  good: asIs,
  warning: asIs,
  bad: asIs,
  match: asIs,
  bar: asIs,
};

/**
 * The flag decides; then FORCE_COLOR (as Node itself reads it, before NO_COLOR), NO_COLOR, a dumb terminal or CI, and last
 * whether it is a terminal at all. An empty variable counts as not set.
 */
export function decideColor(
  when: OutputOptions['color'],
  place: { readonly environment: Environment; readonly isTerminal: boolean },
): boolean {
  if (when !== 'auto') return when === 'always';
  const { FORCE_COLOR: force = '', NO_COLOR: no = '', TERM: term, CI: ci = '' } = place.environment;
  if (force !== '') return force !== '0' && force !== 'false';
  if (no !== '' || term === 'dumb' || isCi(ci)) return false;
  return place.isTerminal;
}

/** CI systems set CI to true or 1; people turn that off with `CI=false`. */
export function isCi(value: string): boolean {
  return value !== '' && value !== '0' && value !== 'false';
}

/** chalk is loaded only if colors are shown. */
export async function loadTheme(hasColor: boolean): Promise<Theme> {
  if (!hasColor) return PLAIN_THEME;
  const { Chalk } = await import('chalk');
  // 16 colors: the terminal's own palette is readable on its own background.
  const paint = new Chalk({ level: 1 });
  return {
    strong: (text) => paint.bold(text),
    faint: (text) => paint.dim(text),
    good: (text) => paint.green(text),
    warning: (text) => paint.yellow(text),
    bad: (text) => paint.red(text),
    match: (text) => paint.bold.red(text),
    bar: (text) => paint.blue(text),
  };
}
