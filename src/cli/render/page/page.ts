import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { showMessages } from '../../../browser/show-messages.ts';
import type { FileReport, ReportedMessage } from '../../../app/contract/file-report.ts';
import { OUTCOMES } from '../../../core/overview/strip.ts';
import { countOf, formatCount, sumOf } from '../../../messages/quantities.ts';
import { textLines } from '../../../messages/text.ts';
import { icicle, lineage, strip } from './charts.ts';
import { counted, html, type Html, multiline, ownCode, scriptTag } from './html.ts';
import { audit, ledger, type PageContext, rulesAndRequests, summary, verdict } from './sections.ts';
import { STYLE } from './style.ts';

/** How a page begins. A file that begins like this may be replaced by another page. */
export const PAGE_START = '<!doctype html><html lang="en" data-by="compact report">';

/** One self-contained page, as UTF-8 text: the same for the same report. */
export function renderPage(report: FileReport, context: PageContext): string {
  const script = `'use strict';(${showMessages.toString()})();`;
  const policy = `default-src 'none'; style-src ${hashSource(STYLE)}; script-src ${hashSource(script)}; base-uri 'none'; form-action 'none'`;
  const packed = packMessages(report.messages);
  const name = report.file.split('/').at(-1) ?? report.file;
  const { state, messages, tree } = report;
  const cycles = state.kind === 'compacted' ? state.cycles : [];
  const sections: readonly Section[] = [
    { id: 'strip', title: 'The conversation', content: strip(report) },
    { id: 'tokens', title: 'Tokens', heading: 'Where the tokens are', content: icicle(tree) },
    { id: 'requests', title: 'Requests', heading: 'Rules and requests', content: rulesAndRequests(report) },
    { id: 'summary', title: 'Summary', heading: 'The summary', content: summary(report) },
    { id: 'audit', title: 'Kept and lost', content: audit(report) },
    {
      id: 'lineage',
      title: 'Lineage',
      heading: 'Lineage of the batches',
      content: cycles.length === 0 ? null : html`${LINEAGE_NOTE} ${lineage(cycles)}`,
    },
    { id: 'messages', title: 'Messages', count: messages.length, content: messagesOf(report, packed) },
    { id: 'ledger', title: 'Ledger', content: ledger(report) },
  ];
  const shown = sections.filter(({ content }) => content !== null);
  const data = [
    scriptTag(html` type="text/plain" id="index"`, packed.index),
    ...packed.blocks.map(({ first, text }) =>
      scriptTag(html` type="text/plain" class="block" data-first="${first}"`, text),
    ),
  ];
  const rest = html`<head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><title>${name}: compact report</title><style>${ownCode(STYLE)}</style></head><body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<header><p class="brand">compact report</p><h1>${name}</h1><p class="faint">${describeFile(report)}</p></header>
<nav aria-label="Sections"><ul>${shown.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
<main>${verdict(report, context)}
${shown.map(renderSection)}</main>
<footer><p>Made offline by <code>compact report</code>. This page loads nothing and sends nothing. ${context.isRaw ? 'It may contain secrets: they are shown as they are (--raw).' : 'Known kinds of secrets are masked.'}</p></footer>
${data}${scriptTag(html``, script)}</body></html>
`;
  return PAGE_START + rest.html;
}

type Section = {
  readonly id: string;
  /** In the navigation; also the heading, if there is no other. */
  readonly title: string;
  readonly heading?: string;
  /** Behind the heading. */
  readonly count?: number;
  /** Null: there is nothing to show. */
  readonly content: Html | null;
};

function renderSection({ id, title, heading = title, count, content }: Section): Html {
  return html`<section id="${id}">
    <h2>${count === undefined ? heading : counted(heading, count)}</h2>
    ${content}
  </section> `;
}

const LINEAGE_NOTE = html`<p class="note">
  A batch is the summary of a run of messages. Later compactions carry batches on or replace them.
</p>`;

function hashSource(code: string): string {
  return `'sha256-${createHash('sha256').update(code).digest('base64')}'`;
}

function describeFile({ file, format, messages }: FileReport): string {
  const days = messages.flatMap(({ at }) => at?.slice(0, 10) ?? []).sort();
  const [first = '', last = ''] = [days.at(0), days.at(-1)];
  const span = first === last ? first : `${first} to ${last}`;
  const parts = [file.includes('/') ? file : '', format, countOf(messages.length, 'message'), span];
  return parts.filter((part) => part !== '').join(' · ');
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
  return html`<p class="note">
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
    >`;
}

function staticRow({ number, role, tools, outcome, tokens, text }: ReportedMessage, textChars: number): Html {
  const shown = text.length > textChars ? `${text.slice(0, textChars)}…` : text;
  return html`<div class="m" id="m${number}">
    <b>${number}</b> ${role}${tools.length > 0 ? ` ${tools.join(', ')}` : ''} · ${outcome} · ${tokens}
    <p>${multiline(shown)}</p>
  </div> `;
}

/** The messages as blocks of gzip in base64. Each block unpacks to a JSON list; `index` to an object of lists. */
type PackedMessages = {
  readonly index: string;
  /** `first`: the number of its first message, from 1. */
  readonly blocks: readonly { readonly first: number; readonly text: string }[];
  /** Longer texts were cut here. */
  readonly maxChars: number;
};

/** With this, 10,000 messages make a page of less than 4 MB. */
const MAX_PACKED_CHARS = 2_300_000;
const BLOCK_CHARS = 400_000;
const BLOCK_MESSAGES = 250;
const LIMITS = [64_000, 24_000, 12_000, 6_000, 3_000, 1_500, 800, 400, 200, 100, 40];
/** Packed texts are seldom longer than this share, so larger ones need not be tried. */
const USUAL_RATIO = 0.3;

/** Cuts long texts as much as is needed. */
function packMessages(messages: readonly ReportedMessage[]): PackedMessages {
  const index = pack(indexOf(messages));
  let packed: PackedMessages = { index, blocks: [], maxChars: 0 };
  for (const maxChars of LIMITS) {
    const chars = sumOf(messages, ({ text }) => Math.min(text.length, maxChars));
    const isLast = maxChars === LIMITS.at(-1);
    if (chars * USUAL_RATIO > 2 * MAX_PACKED_CHARS && !isLast) continue;
    packed = { index, blocks: packTexts(messages, maxChars), maxChars };
    if (index.length + sumOf(packed.blocks, ({ text }) => text.length) <= MAX_PACKED_CHARS) break;
  }
  return packed;
}

function packTexts(messages: readonly ReportedMessage[], maxChars: number): PackedMessages['blocks'] {
  const blocks: { readonly first: number; readonly texts: string[]; chars: number }[] = [];
  for (const { number, text } of messages) {
    const shown = textLines(text.slice(0, maxChars)).join('\n');
    const last = blocks.at(-1);
    if (last !== undefined && last.chars < BLOCK_CHARS && last.texts.length < BLOCK_MESSAGES) {
      last.texts.push(shown);
      last.chars += shown.length;
    } else blocks.push({ first: number, texts: [shown], chars: shown.length });
  }
  return blocks.map(({ first, texts }) => ({ first, text: pack(texts) }));
}

/** What the page's script knows of the messages beside their texts: lists in the order of the messages. */
function indexOf(messages: readonly ReportedMessage[]): Record<string, readonly unknown[]> {
  const safe = (text: string): string => textLines(text).join(' ');
  return {
    id: messages.map(({ id }) => safe(id)),
    line: messages.map(({ line }) => line),
    role: messages.map(({ role }) => safe(role)),
    tools: messages.map(({ tools }) => safe(tools.join(', '))),
    at: messages.map(({ at }) => at ?? ''),
    tokens: messages.map(({ tokens }) => tokens),
    chars: messages.map(({ chars }) => chars),
    score: messages.map(({ score }) => (score === null ? null : Number(score.toFixed(2)))),
    why: messages.map(({ terms }) =>
      terms.map(({ name, value }) => `${safe(name.replace('keyword:', ''))} +${value.toFixed(1)}`).join(', '),
    ),
    outcome: messages.map(({ outcome }) => OUTCOMES.indexOf(outcome)),
    cycle: messages.map(({ cycle }) => cycle ?? 0),
    batch: messages.map(({ batch }) => safe(batch ?? '')),
    isRequest: messages.map(({ isRequest }) => (isRequest ? 1 : 0)),
  };
}

const OS_BYTE = 9;
const UNKNOWN_OS = 255;

/** The header of gzip names the operating system; without it, every machine makes the same bytes. */
function pack(value: unknown): string {
  const packed = gzipSync(JSON.stringify(value));
  packed[OS_BYTE] = UNKNOWN_OS;
  return packed.toString('base64');
}
