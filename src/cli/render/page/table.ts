import { formatCount } from '../quantities.ts';
import { html, type Html } from './html.ts';

export type Cell = string | number | Html;

/** A table. Numbers are right-aligned, with separators for thousands. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  const isNumber = heads.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  const head = heads.map((title, at) => html`<th scope="col" ${classOf(isNumber[at])}>${title}</th>`);
  const body = rows.map(
    (row) =>
      html`<tr>
        ${row.map((cell, at) => html`<td${classOf(isNumber[at])}>${show(cell)}</td>`)}
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
  return html`<details class="fold">
    <summary>Table: ${caption}</summary>
    ${table(caption, heads, rows)}
  </details>`;
}

function show(cell: Cell): Cell {
  return typeof cell === 'number' ? formatCount(cell) : cell;
}

const NUMBER = html` class="n"`;
const TEXT = html``;

function classOf(isNumber: boolean | undefined): Html {
  return isNumber === true ? NUMBER : TEXT;
}

/** A link to a message. */
export function messageLink(number: number | null): Html {
  return number === null
    ? html``
    : html`<a class="to" href="#m${number}" title="message ${number}">${formatCount(number)}</a>`;
}
