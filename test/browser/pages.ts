import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chatLine, prose } from '../support/chat.ts';

/** Opens pages of the built program in a real Chromium. `npm run dev -- test:browser` runs this; `npm test` does not. */

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const PROGRAM = join(import.meta.dirname, '../../bin/compact.js');
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 390, height: 844 };
const SCHEMES = ['light', 'dark'] as const;

const folder = mkdtempSync(join(tmpdir(), 'compact-pages-'));
const started: Browser[] = [];

before(async () => {
  if (!existsSync(CHROMIUM))
    throw new Error(`there is no Chromium at ${CHROMIUM}: install the package chromium, or set CHROMIUM to its path`);
  started.push(await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] }));
});

after(async () => {
  for (const browser of started) await browser.close();
  rmSync(folder, { recursive: true });
});

/** Writes a transcript, compacts it unless `flags` ask for a plan, and returns the path of its page. */
function makePage(name: string, lines: readonly string[], flags: readonly string[] = []): string {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  const archive = ['--archive', join(folder, `${name}.db`)];
  if (!flags.includes('--plan')) runProgram(['-i', name, ...archive]);
  runProgram(['report', name, '-o', `${name}.html`, ...archive, ...flags]);
  return join(folder, `${name}.html`);
}

function runProgram(args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

type Opened = { readonly page: Page; readonly said: readonly string[]; readonly requests: readonly string[] };

async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}, hash = ''): Promise<Opened> {
  const [browser] = started;
  assert.ok(browser !== undefined);
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const page = await context.newPage();
  const said: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  page.on('dialog', (dialog) => {
    said.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`${pathToFileURL(path).href}${hash}`);
  if (options.javaScriptEnabled !== false) await page.waitForSelector('#list .m');
  return { page, said, requests };
}

/** A session with tools, as long as asked for. */
function session(turns: number, say: (plain: string) => string = (plain) => plain): readonly string[] {
  return Array.from({ length: turns }, (_, n) => {
    const call = {
      id: say(`call_${n}`),
      type: 'function',
      function: {
        name: say(['read_file', 'bash', 'edit'][n % 3] ?? ''),
        arguments: `{"path":${JSON.stringify(say(`src/part-${n % 40}.ts`))}}`,
      },
    };
    return [
      chatLine({ role: 'user', content: say(`Always keep part ${n} short. ${prose(n, 30)}?`) }),
      chatLine({ role: 'assistant', content: null, tool_calls: [call] }),
      chatLine({ role: 'tool', tool_call_id: call.id, content: say(`${prose(n + 500, 90)}\nError: part ${n} failed`) }),
      chatLine({
        role: 'assistant',
        content: say(`Part ${n} is mended, because the cause was ${prose(n + 900, 40)}.`),
      }),
    ];
  }).flat();
}

test('axe finds nothing, in both themes, wide and narrow, with a message open', async () => {
  const compacted = makePage('talk.jsonl', session(30));
  const plan = makePage('plan.jsonl', session(6), ['--plan', '--keep-recent-tokens', '0']);
  for (const path of [compacted, plan]) {
    for (const colorScheme of SCHEMES) {
      for (const viewport of [WIDE, NARROW]) {
        const { page, said } = await open(path, { colorScheme, viewport }, '#m3');
        for (const fold of await page.locator('.fold > summary').all()) await fold.click();
        // The page's policy forbids added scripts, so axe comes through the debugger.
        await page.evaluate(axe.source);
        const found = await page.evaluate(async () => {
          const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: readonly unknown[] }> } };
          const { violations } = await axe.run();
          return JSON.stringify(violations, ['id', 'help', 'nodes', 'html', 'any', 'message'], 1);
        });
        assert.equal(found, '[]', `${path} ${colorScheme} ${viewport.width}: ${found}`);
        const width = await page.evaluate<number>('document.documentElement.scrollWidth');
        assert.ok(width <= viewport.width, `${width} pixels of ${viewport.width}`);
        assert.deepEqual(said, []);
        await page.context().close();
      }
    }
  }
});

test('no request leaves the page', async () => {
  const path = makePage('talk.jsonl', session(30));
  const { page, requests, said } = await open(path);
  await page.locator('#find').fill('mended');
  await page.locator('#find').press('Enter');
  await page.waitForFunction(`document.querySelector('#found').textContent !== ''`);
  assert.deepEqual([requests, said], [[pathToFileURL(path).href], []]);
});

const HOSTILE = [
  '<script>window.pwned=1</script>',
  '</script><script>window.pwned=2</script>',
  '</noscript></title></style><img src=x onerror="window.pwned=3">',
  '--><svg onload="window.pwned=4">',
  `" onmouseover="window.pwned=5" autofocus onfocus='window.pwned=6'`,
  'javascript:window.pwned=7',
  '\u202e\u2066\u0000\u001b[2J\u0007',
].join(' ');

/** Fires an event at elements, in case one of them listens. */
const FIRE = (elements: readonly { dispatchEvent: (event: Event) => unknown }[], name: string): void => {
  for (const element of elements) element.dispatchEvent(new Event(name));
};

test('a hostile transcript executes nothing, with scripts on and off', async () => {
  const lines = session(40, (plain) => `${plain} ${HOSTILE}`);
  const path = makePage(`"><img src=x onerror=window.pwned=8>'.jsonl`, lines);
  const { page, said, requests } = await open(path, {}, '#m1');
  await page.locator('#m1 pre').waitFor();
  await page.locator('.strip a').first().hover();
  for (const event of ['mouseover', 'focus', 'load', 'error']) await page.locator('body *').evaluateAll(FIRE, event);
  assert.equal(await page.evaluate(() => Object.hasOwn(globalThis, 'pwned')), false);
  assert.equal(await page.locator('img, iframe, object, embed, form[action], base').count(), 0);
  assert.match((await page.locator('#m1 pre').textContent()) ?? '', /<script>window\.pwned=1<\/script>/);
  assert.deepEqual([said, requests.length], [[], 1]);
  const off = await open(path, { javaScriptEnabled: false });
  assert.equal(await off.page.locator('img, iframe, object, embed').count(), 0);
  assert.equal(off.requests.length, 1);
});

test('without scripts the verdict, the pictures, their tables and the messages can be read', async () => {
  const path = makePage('talk.jsonl', session(30));
  const { page } = await open(path, { javaScriptEnabled: false }, '#m7');
  assert.match(await page.locator('#verdict').innerText(), /Verified[\s\S]*restore -i talk\.jsonl/);
  assert.ok(await page.locator('.strip').isVisible());
  await page.locator('#strip .fold > summary').click();
  assert.ok(await page.locator('#strip table').isVisible());
  assert.equal(await page.locator('.m').count(), 120);
  assert.match((await page.locator('#m7').textContent()) ?? '', /tool read_file|bash|part/);
  assert.equal(await page.locator('#browser').isVisible(), false);
});

test('a bar, a source of the summary and the address lead to their message', async () => {
  const path = makePage('talk.jsonl', session(30));
  const { page } = await open(path, {}, '#m5');
  await page.locator('#m5 pre').waitFor();
  await page.locator('.strip a').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.locator('#m3 pre').waitFor();
  const source = page.locator('.summary p.text', { hasText: 'is mended' }).first();
  const words = /Part \d+ is mended/.exec(await source.innerText())?.[0] ?? 'none';
  await source.locator('a.to').click();
  await page.locator('.m.here pre', { hasText: words }).waitFor();
});

test('messages are found by their words, outcome and role, page by page', async () => {
  const path = makePage('talk.jsonl', session(60));
  const { page } = await open(path);
  assert.match(await page.locator('#page').innerText(), /1–50 of 240/);
  await page.locator('#next').click();
  await page.locator('#m51').waitFor();
  await page.locator('#role').selectOption('user');
  await page.waitForFunction(`document.querySelector('#found').textContent.startsWith('60 of 240')`);
  await page.locator('#find').fill('keep part 17 ');
  await page.locator('#find').press('Enter');
  await page.waitForFunction(`document.querySelector('#found').textContent.startsWith('1 of 240')`);
  assert.deepEqual(await page.locator('#list .m').evaluateAll((rows) => rows.map(({ id }) => id)), ['m69']);
});

/** Milliseconds from the start of the navigation. */
const FIRST_PAINT = `new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => {
    const paint = list.getEntriesByName('first-contentful-paint')[0];
    if (paint !== undefined) resolve(paint.startTime);
  });
  observer.observe({ type: 'paint', buffered: true });
})`;

test('10,000 messages: at most 4 MB, and painted within 2 seconds', async () => {
  const path = makePage('long.jsonl', session(2500));
  const sizeBytes = statSync(path).size;
  assert.ok(sizeBytes <= 4_000_000, `${sizeBytes} bytes`);
  for (const javaScriptEnabled of [true, false]) {
    const [browser] = started;
    assert.ok(browser !== undefined);
    const context = await browser.newContext({ viewport: WIDE, javaScriptEnabled });
    const page = await context.newPage();
    const startedAtMs = performance.now();
    await page.goto(pathToFileURL(path).href, { waitUntil: 'commit' });
    await page.locator('#verdict').waitFor();
    const shownMs = performance.now() - startedAtMs;
    // Without scripts the page's own clock cannot be asked.
    const paintMs = javaScriptEnabled ? await page.evaluate<number>(FIRST_PAINT) : shownMs;
    const size = `${(sizeBytes / 1e6).toFixed(1)} MB`;
    console.log(`10,000 messages, ${size}, scripts ${javaScriptEnabled ? 'on' : 'off'}: ${paintMs.toFixed(0)} ms`);
    assert.ok(paintMs < 2_000, `${paintMs} ms`);
    await context.close();
  }
});
