import { createHash } from 'node:crypto';
import { showMessages } from '../../../browser/show-messages.ts';
import type { FileReport, ReportedMessage } from '../../../app/contract/file-report.ts';
import { countOf, formatCount } from '../quantities.ts';
import { html, type Html, multiline, NOTHING, ownCode, scriptTag } from './html.ts';
import { icicle } from './icicle.ts';
import { lineage } from './lineage.ts';
import { packMessages, type PackedMessages } from './pack.ts';
import { audit, ledger, rulesAndRequests, summary } from './sections.ts';
import { strip } from './strip.ts';
import { STYLE } from './style.ts';
import { type PageContext, verdict } from './verdict.ts';

/** How a page begins. A file that begins like this may be replaced by another page. */
export const PAGE_START = '<!doctype html><html lang="en" data-by="compact report">';

/** One self-contained page, as UTF-8 text: the same for the same report. */
export function renderPage(report: FileReport, context: PageContext): string {
  const script = `'use strict';(${showMessages.toString()})();`;
  const policy = `default-src 'none'; style-src ${hashSource(STYLE)}; script-src ${hashSource(script)}; base-uri 'none'; form-action 'none'`;
  const packed = packMessages(report.messages);
  const name = report.file.split('/').at(-1) ?? report.file;
  const sections: readonly (readonly [id: string, title: string, content: Html])[] = [
    [
      'strip',
      'The conversation',
      html`<section id="strip">
        <h2>The conversation</h2>
        ${strip(report)}
      </section>`,
    ],
    [
      'tokens',
      'Tokens',
      html`<section id="tokens">
        <h2>Where the tokens are</h2>
        ${icicle(report.tree)}
      </section>`,
    ],
    ['requests', 'Requests', rulesAndRequests(report)],
    ['summary', 'Summary', summary(report)],
    ['audit', 'Kept and lost', audit(report)],
    ['lineage', 'Lineage', lineageOf(report)],
    ['messages', 'Messages', messagesOf(report, packed)],
    ['ledger', 'Ledger', ledger(report)],
  ];
  const shown = sections.filter(([, , content]) => content.html !== '');
  const rest = html`<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><title>${name}: compact report</title><style>${ownCode(STYLE)}</style></head><body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<header><p class="brand">compact report</p><h1>${name}</h1><p class="faint">${describeFile(report)}</p></header>
<nav aria-label="Sections"><ul>${shown.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
<main>${verdict(report, context)}
${shown.map(([, , content]) => html`${content} `)}</main>
<footer><p>Made offline by <code>compact report</code>. This page loads nothing and sends nothing. ${context.isRaw ? 'It may contain secrets: they are shown as they are (--raw).' : 'Known kinds of secrets are masked.'}</p></footer>
${packedData(packed)}${scriptTag(NOTHING, script)}</body></html>
`;
  return PAGE_START + rest.html;
}

function hashSource(code: string): string {
  return `'sha256-${createHash('sha256').update(code).digest('base64')}'`;
}

function describeFile({ file, format, messages }: FileReport): string {
  const times = messages.flatMap(({ at }) => at ?? []).sort();
  const [first = '', last = ''] = [times.at(0)?.slice(0, 10), times.at(-1)?.slice(0, 10)];
  const span = first === last ? first : `${first} to ${last}`;
  return [file.includes('/') ? file : '', format, countOf(messages.length, 'message'), span]
    .filter((part) => part !== '')
    .join(' · ');
}

function lineageOf({ state }: FileReport): Html {
  if (state.kind !== 'compacted' || state.cycles.length === 0) return NOTHING;
  return html`<section id="lineage">
    <h2>Lineage of the batches</h2>
    <p class="note">A batch is the summary of a run of messages. Later compactions carry batches on or replace them.</p>
    ${lineage(state.cycles)}
  </section>`;
}

/** Without scripts, the list shows as much of each message as fits in this many characters. */
const STATIC_CHARS = 800_000;
const STATIC_ROW_CHARS = 130;
const MIN_STATIC_TEXT = 90;
const MAX_STATIC_TEXT = 2_000;

function messagesOf({ messages, state }: FileReport, { maxChars }: PackedMessages): Html {
  const fits = Math.floor(STATIC_CHARS / (STATIC_ROW_CHARS + MIN_STATIC_TEXT));
  const half = Math.floor(fits / 2);
  const rows = messages.length <= fits ? messages : [...messages.slice(0, half), ...messages.slice(-half)];
  const textChars = Math.min(MAX_STATIC_TEXT, Math.floor(STATIC_CHARS / Math.max(1, rows.length)) - STATIC_ROW_CHARS);
  const isCut = messages.some(({ text, chars }) => chars > Math.min(text.length, maxChars));
  const missing = messages.length - rows.length;
  return html`<section id="messages">
    <h2>Messages <span class="count">${formatCount(messages.length)}</span></h2>
    <p class="note">
      ${state.kind === 'unproven' ? 'Those that are in the file.' : 'Those of the original, in its order.'}${isCut ? ` Of longer texts, the first ${formatCount(maxChars)} characters are here.` : ''}
    </p>
    <div id="browser" hidden>
      <form class="filters">
        <label>Find <input type="search" id="find" placeholder="words in messages" /></label
        ><label
          >Outcome
          <select id="outcome">
            <option value="">all</option>
            <option value="0">kept</option>
            <option value="1">quoted</option>
            <option value="2">summarized</option>
            <option value="3">not summarized</option>
          </select></label
        ><label
          >Role
          <select id="role">
            <option value="">all</option>
            <option>user</option>
            <option>assistant</option>
            <option>tool</option>
            <option>system</option>
          </select></label
        ><label class="check"><input type="checkbox" id="asked" /> requests only</label>
      </form>
      <p id="found" role="status" class="faint"></p>
      <div id="list"></div>
      <div class="pager">
        <button type="button" id="previous">Previous</button><span id="page"></span
        ><button type="button" id="next">Next</button>
      </div>
    </div>
    <noscript
      ><p class="faint">
        Scripts are off: this list has the beginning of each
        message.${missing > 0 ? ` ${formatCount(missing)} messages in the middle are left out.` : ''}
      </p>
      ${rows.map((message) => staticRow(message, textChars))}</noscript
    >
  </section>`;
}

function staticRow({ number, role, tools, outcome, tokens, text }: ReportedMessage, textChars: number): Html {
  const shown = text.length > textChars ? `${text.slice(0, textChars)}…` : text;
  return html`<div class="m" id="m${number}">
    <b>${number}</b> ${role}${tools.length > 0 ? ` ${tools.join(', ')}` : ''} · ${outcome} · ${tokens}
    <p>${multiline(shown)}</p>
  </div> `;
}

function packedData({ index, blocks, firsts }: PackedMessages): readonly Html[] {
  const data = blocks.map((block, at) =>
    scriptTag(html` type="text/plain" class="block" data-first="${firsts[at] ?? 0}"`, block),
  );
  return [scriptTag(html` type="text/plain" id="index"`, index), ...data];
}
