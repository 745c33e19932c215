import { formatCount } from '../../../messages/quantities.ts';
import { safeText, textLines } from '../../../messages/text.ts';

/** Markup that may stand in a page as it is. Only the functions of this file make it. */
export type Html = { readonly html: string };

type Part = Html | string | number | null | readonly (Html | null)[];

/** A template of markup. Strings between its parts are texts: they are escaped, so that no transcript can add markup. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = strings.map((text, at) => text.replaceAll(/\n\s+/g, '\n') + markup(parts[at] ?? null));
  return { html: pieces.join('') };
}

function markup(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return escape(safeText(part));
  return 'html' in part ? part.html : part.map((one) => one?.html ?? '').join('');
}

/** A text that keeps its line ends. */
export function multiline(text: string): Html {
  return { html: escape(textLines(text).join('\n')) };
}

/** Our own styles, which are not escaped. An end tag in them would be a bug. */
export function ownCode(code: string): Html {
  if (/<[/!]/.test(code)) throw new Error('code in a page may not contain tags');
  return { html: code };
}

const SCRIPT_END = '</script>';

/** A script, or data in one. The bundler rewrites templates that contain its end tag, so it is written here. */
export function scriptTag(attributes: Html, code: string): Html {
  return { html: `<script${attributes.html}>${ownCode(code).html}${SCRIPT_END}\n` };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');
}

export type Cell = string | number | Html;

/** A table. Numbers are right-aligned, with separators for thousands. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  const isNumber = heads.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  const head = heads.map((title, at) => html`<th scope="col" ${classOf(isNumber[at])}>${title}</th>`);
  const body = rows.map(
    (row) =>
      html`<tr>
        ${row.map((cell, at) => html`<td${classOf(isNumber[at])}>${typeof cell === 'number' ? formatCount(cell) : cell}</td>`)}
      </tr> `,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`;
}

/** The same behind a line that opens it. */
export function foldedTable(caption: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  return folded(`Table: ${caption}`, table(caption, heads, rows));
}

/** Content behind a line that opens it. */
export function folded(line: Html | string, ...content: readonly (Html | null)[]): Html {
  return html`<details class="fold">
    <summary>${line}</summary>
    ${content}
  </details>`;
}

/** A title with a number behind it. */
export function counted(title: string, count: number): Html {
  return html`${title} <span class="count">${formatCount(count)}</span>`;
}

/** A bar that is filled up to a share of 100. `shownAs`: what it says to those who do not see it; null: nothing that is not said beside it. */
export function bar(
  share: number,
  { height, least, shownAs }: { readonly height: number; readonly least: number; readonly shownAs: string | null },
): Html {
  const role = shownAs === null ? html`aria-hidden="true"` : html`role="img" aria-label="${shownAs}"`;
  return html`<svg class="bar" width="100%" height="${height}" ${role}>
    <rect class="track" width="100%" height="${height}" rx="${height / 2}" />
    <rect class="fill" width="${Math.max(least, share).toFixed(2)}%" height="${height}" rx="${height / 2}" />
  </svg>`;
}

function classOf(isNumber: boolean | undefined): Html | null {
  return isNumber === true ? html` class="n"` : null;
}

export function messageLink(number: number | null): Html | null {
  return number === null
    ? null
    : html`<a class="to" href="#m${number}" title="message ${number}">${formatCount(number)}</a>`;
}
