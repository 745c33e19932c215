import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { copyFixture, createShell, ROOT } from './shell.ts';

export const PICTURE = join(ROOT, 'docs/terminal.svg');
export const PAGE_PICTURE = join(ROOT, 'docs/report.png');

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

type Run = (line: string) => string;
type Place = { readonly folder: string; readonly run: Run; readonly show: (text: string) => string };

/** Runs commands on a session in a folder of its own. `show` gives a text with its home folder as /home/you. */
function inPlace<T>(work: (place: Place) => T): T {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'compact-picture-')));
  try {
    const { home, run } = createShell(folder, { FORCE_COLOR: '1' });
    copyFixture('claude-code/session.jsonl', join(folder, 'work/session.jsonl'));
    // A long path of a temp folder is shown without its beginning.
    const pathOfWork = /(?:\/|…)\S*\/work\//g;
    return work({
      folder: join(folder, 'work'),
      run: (line) => {
        const { code, output } = run(line);
        if (code !== 0) throw new Error(`${line}: exit code ${code}: ${output}`);
        return output;
      },
      show: (text) => text.replaceAll(home, '/home/you').replaceAll(pathOfWork, '/home/you/'),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The commands above and what they print now. */
function runSession(): string {
  return inPlace(({ run, show }) => {
    const shown = LINES.map((line) => `\u001B[2m$\u001B[22m \u001B[1m${line}\u001B[22m\n${run(line).trimEnd()}\n`);
    // The age of a hit is another one each month.
    return show(shown.join('\n').replaceAll(/(?<=^message:.*, )\d+(?:mo|y)(?=, )/gm, '3d'));
  });
}

const VIEW = { width: 1000, height: 900 };

/** The beginning of the report page of the session, as Chromium shows it. */
async function photographPage(executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'): Promise<Buffer> {
  const html = inPlace(({ folder, run, show }) => {
    run('compact -i session.jsonl');
    run('compact report session.jsonl -o page.html');
    return show(readFileSync(join(folder, 'page.html'), 'utf8'));
  });
  const folder = mkdtempSync(join(tmpdir(), 'compact-picture-'));
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const path = join(folder, 'page.html');
    writeFileSync(path, html);
    const page = await browser.newPage({ viewport: VIEW, colorScheme: 'light' });
    await page.goto(pathToFileURL(path).href);
    await page.waitForSelector('#list .m');
    return await page.screenshot({ type: 'png' });
  } finally {
    await browser.close();
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

if (import.meta.main) {
  writeFileSync(PICTURE, drawPicture());
  writeFileSync(PAGE_PICTURE, await photographPage());
}
