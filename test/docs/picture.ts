import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyFixture, createShell, ROOT } from './shell.ts';

export const PICTURE = join(ROOT, 'docs/terminal.svg');

const LINES = [
  'compact -i session.jsonl',
  'compact search --messages --limit 1 "which orders are filled by hand?"',
  'compact restore -i session.jsonl',
];

const FONT_SIZE = 14;
const CHARACTER_WIDTH = 8.43; // of the common monospaced fonts at this size
const LINE_HEIGHT = 20;
const MARGIN = 20;
const COLUMNS = 84;

/** Colors of the terminal in the picture, by SGR code. */
const STYLES: { readonly [code: string]: string } = {
  '1': 'font-weight="bold" fill="#ffffff"',
  '2': 'fill="#8b949e"',
  '31': 'fill="#ff7b72"',
  '32': 'fill="#7ee787"',
  '33': 'fill="#e3b341"',
};

/** The commands above and what they print now, with the home folder shown as /home/you. */
function runSession(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'compact-picture-')));
  try {
    const { home, run } = createShell(folder, { FORCE_COLOR: '1' });
    copyFixture('claude-code/session.jsonl', join(folder, 'work/session.jsonl'));
    const shown = LINES.map((line) => {
      const { code, output } = run(line);
      if (code !== 0) throw new Error(`${line}: exit code ${code}: ${output}`);
      return `\u001B[2m$\u001B[22m \u001B[1m${line}\u001B[22m\n${output.trimEnd()}\n`;
    });
    // A long path of a temp folder is shown without its beginning.
    const work = /(?:\/|…)\S*\/work\//g;
    // The age of a hit is another one each month.
    const text = shown.join('\n').replaceAll(/(?<=^message:.*, )\d+(?:mo|y)(?=, )/gm, '3d');
    return text.replaceAll(home, '/home/you').replaceAll(work, '/home/you/');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An SVG of a terminal in which the commands were just run. */
export function drawPicture(): string {
  const rows = runSession().trimEnd().split('\n');
  const [width, height] = [COLUMNS * CHARACTER_WIDTH + 2 * MARGIN, rows.length * LINE_HEIGHT + 2 * MARGIN];
  const texts = rows.map((row, index) => {
    const y = MARGIN + (index + 0.75) * LINE_HEIGHT;
    return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${styleRow(row)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${height}" role="img" aria-label="compact in a terminal">`,
    '<!-- Made by `npm run dev -- docs:picture` from a real run. Do not edit. -->',
    '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}" fill="#e6edf3">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** A line with SGR codes as spans; a code that ends a style (22, 39) ends all of them. */
function styleRow(row: string): string {
  const [plain = '', ...painted] = row.split('\u001B[');
  let style: string | undefined;
  const spans = painted.map((part) => {
    const [, code = '', text = ''] = /^(\d+)m(.*)$/.exec(part) ?? [];
    style = STYLES[code];
    return style === undefined ? escapeXml(text) : span(style, text);
  });
  return [escapeXml(plain), ...spans].join('');
}

function span(style: string, text: string): string {
  return text === '' ? '' : `<tspan ${style}>${escapeXml(text)}</tspan>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

if (import.meta.main) writeFileSync(PICTURE, drawPicture());
