import { createRandom } from '../support/random.ts';

/** Made-up text that repeats itself about as much as people, programs and models do; the same numbers give the same text. */
export type Writer = {
  /** A whole number from 0 to below `limit`. */
  readonly below: (limit: number) => number;
  readonly word: () => string;
  readonly sentence: () => string;
  readonly paragraph: (sentences: number) => string;
  readonly code: (chars: number) => string;
  readonly path: () => string;
};

const COMMON =
  'the of and to in is that it was for on are as with his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know'.split(
    ' ',
  );
const SYLLABLES = 'ba co de fi go hu la me ni po ra se ti vo zu ker lin mon par ster tran ver with ext sol'.split(' ');
const WIDE = ['naïve', 'über', '— so', 'façade', '数据库', '設定ファイル', 'résumé', '✓ done', '→', '😀', 'Ωmega'];
const VOCABULARY = 6000;
const FILES = 300;

export function createWriter(seed: number): Writer {
  const random = createRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = (list: readonly string[]): string => list[below(list.length)] ?? '';
  const coin = (): string => Array.from({ length: 2 + below(3) }, () => pick(SYLLABLES)).join('');
  const vocabulary = Array.from({ length: VOCABULARY }, coin);
  const paths = Array.from(
    { length: FILES },
    () => `src/${pick(vocabulary)}/${pick(vocabulary)}-${pick(vocabulary)}.ts`,
  );
  // Squared twice: few words are used much, many are used little.
  const rare = (): string => vocabulary[Math.floor(random() ** 4 * VOCABULARY)] ?? '';
  const word = (): string => (random() < 0.5 ? pick(COMMON) : random() < 0.02 ? pick(WIDE) : rare());
  const sentence = (): string => {
    const words = Array.from({ length: 5 + below(18) }, word).join(' ');
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}${random() < 0.1 ? '?' : '.'}`;
  };
  const name = (): string => {
    const tail = rare();
    return `${rare()}${tail.charAt(0).toUpperCase()}${tail.slice(1)}`;
  };
  const statements: readonly (() => string)[] = [
    () => `  const ${name()} = await ${name()}(${rare()}, { ${rare()}: ${below(1000)}, ${rare()}: '${word()}' });`,
    () => `  if (${rare()} === undefined || ${rare()}.length > ${below(100)}) return ${name()};`,
    () => `import { ${name()}, ${name()} } from './${rare()}.ts';`,
    () => `  // ${sentence()}`,
    () => '  }',
    () => '',
    () => `export function ${name()}(${rare()}: string, ${rare()}: number): ${name()} {`,
    () => `[2026-0${1 + below(9)}-1${below(10)} 1${below(10)}:${10 + below(50)}] WARN ${rare()}: ${sentence()}`,
  ];
  const code = (chars: number): string => {
    const lines: string[] = [];
    for (let left = chars; left > 0; left -= (lines.at(-1)?.length ?? 0) + 1) {
      const line = statements[below(statements.length)]?.() ?? '';
      lines.push(`${String(lines.length + 1).padStart(6)}→${line}`);
    }
    return lines.join('\n');
  };
  const paragraph = (sentences: number): string => Array.from({ length: sentences }, sentence).join(' ');
  return { below, word, sentence, paragraph, code, path: () => pick(paths) };
}
