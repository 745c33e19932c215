import type { FileReport, ReportedRequest } from '../../../app/contract/file-report.ts';
import { countOf, formatCount } from '../quantities.ts';
import { html, type Html, multiline, NOTHING } from './html.ts';
import { messageLink, table } from './table.ts';

const FIRST_REQUESTS = 5;
const LAST_REQUESTS = 15;
/** Of longer conversations, the page lists the newest; all of them are among the messages. */
const MOST_HIDDEN = 400;

export function rulesAndRequests({ rules, requests, state }: FileReport): Html {
  const where = state.kind === 'planned' ? 'would stand' : 'stand';
  const list =
    rules.length === 0
      ? html`<p class="faint">No standing rules were found.</p>`
      : html`<ul class="lines">
          ${rules.map(({ text, message }) => html`<li><span>${multiline(text)}</span>${messageLink(message)}</li>`)}
        </ul>`;
  const hidden = requests.slice(FIRST_REQUESTS, Math.max(FIRST_REQUESTS, requests.length - LAST_REQUESTS));
  const shown =
    requests.length === 0
      ? html`<p class="faint">No message is known to be typed by a person.</p>`
      : html`${requestList(requests.slice(0, FIRST_REQUESTS))}
        ${
          hidden.length === 0
            ? NOTHING
            : html`<details class="fold">
                <summary>${countOf(hidden.length, 'more request')} in between</summary>
                ${hidden.length > MOST_HIDDEN ? html`<p class="note">The newest ${MOST_HIDDEN} of them. All are among the messages.</p>` : NOTHING}
                ${requestList(hidden.slice(-MOST_HIDDEN))}
              </details>`
        }
        ${requestList(requests.slice(FIRST_REQUESTS + hidden.length))}`;
  return html`<section id="requests">
    <h2>Rules and requests</h2>
    <h3>Rules that hold <span class="count">${formatCount(rules.length)}</span></h3>
    <p class="note">Standing rules of the user. They ${where} at the head of the summary.</p>
    ${list}
    <h3>Requests and how they ended <span class="count">${formatCount(requests.length)}</span></h3>
    ${shown}
  </section>`;
}

function requestList(requests: readonly ReportedRequest[]): Html {
  if (requests.length === 0) return NOTHING;
  return html`<ul class="requests">
    ${requests.map(
      ({ message, text, ending }) =>
        html`<li>
          <p class="asked"><span>${multiline(text)}</span>${messageLink(message)}</p>
          ${ending === null ? NOTHING : html`<p class="ended"><span>${multiline(ending.text)}</span>${messageLink(ending.message)}</p>`}
        </li> `,
    )}
  </ul>`;
}

export function summary({ summaries }: FileReport): Html {
  if (summaries.length === 0) return NOTHING;
  const quoted = summaries.flat().filter(({ source }) => source !== null).length;
  const texts = summaries.flat().filter(({ kind }) => kind === 'text').length;
  return html`<section id="summary">
    <h2>The summary</h2>
    <p class="note">
      What the file says in place of the messages that left.
      ${quoted === 0 ? '' : `${formatCount(quoted)} of ${countOf(texts, 'line')} quote a message; the number leads to it.`}
    </p>
    ${summaries.map(
      (lines) =>
        html`<div class="summary">
          ${lines.map(({ kind, text, source }) =>
            kind === 'blank'
              ? NOTHING
              : kind === 'heading'
                ? html`<h3>${text.replace(/^#+ /, '')}</h3> `
                : html`<p class="${kind}"><span>${text}</span>${messageLink(source)}</p> `,
          )}
        </div>`,
    )}
  </section>`;
}

const MOST_LOST = 40;

const KINDS: Readonly<Record<string, string>> = {
  path: 'Files',
  url: 'Addresses',
  id: 'Ids',
  version: 'Versions',
  number: 'Quantities',
  error: 'Errors',
  rule: 'Demands of the user',
};

export function audit({ audit: found }: FileReport): Html {
  if (found === null) return NOTHING;
  const { kept, total, lost } = found;
  const share = total === 0 ? 100 : (100 * kept) / total;
  const groups = Object.entries(KINDS).flatMap(([kind, title]): readonly Html[] => {
    const own = lost.filter((fact) => fact.kind === kind);
    if (own.length === 0) return [];
    const rows = own
      .slice(0, MOST_LOST)
      .map(({ text, message }) => html`<li><span>${text}</span>${messageLink(message)}</li>`);
    const more =
      own.length > MOST_LOST ? html`<p class="faint">and ${formatCount(own.length - MOST_LOST)} more</p>` : NOTHING;
    return [
      html`<details class="fold">
        <summary>${title} <span class="count">${formatCount(own.length)}</span></summary>
        <ul class="lines">
          ${rows}
        </ul>
        ${more}
      </details>`,
    ];
  });
  return html`<section id="audit">
    <h2>Kept and lost</h2>
    <p>
      <b>${formatCount(kept)}</b> of <b>${formatCount(total)}</b> facts in the summarized messages are in the summary
      (${share.toFixed(0)} %). The others are only in the archive, where <code>compact search</code> finds them.
    </p>
    <svg class="bar" width="100%" height="10" role="img" aria-label="${share.toFixed(0)} % kept">
      <rect class="track" width="100%" height="10" rx="5" />
      <rect class="fill" width="${Math.max(0.5, share).toFixed(2)}%" height="10" rx="5" />
    </svg>
    <h3>Not in the summary</h3>
    ${groups.length === 0 ? html`<p class="faint">Nothing.</p>` : groups}
  </section>`;
}

export function ledger({ state, messages, bytes, tokens }: FileReport): Html {
  const count = (outcome: string): number => messages.filter((message) => message.outcome === outcome).length;
  const tokensOf = (outcome: string): number =>
    messages.reduce((sum, message) => sum + (message.outcome === outcome ? message.tokens : 0), 0);
  const going = state.kind === 'planned' ? 'would leave' : 'left';
  const rows = [
    ['stay in the file', count('kept'), tokensOf('kept')],
    ['quoted word for word', count('quoted'), tokensOf('quoted')],
    [`${going}, summarized`, count('summarized'), tokensOf('summarized')],
    [`${going}, not summarized`, count('archived'), tokensOf('archived')],
    ['all', messages.length, messages.reduce((sum, message) => sum + message.tokens, 0)],
  ];
  const cycles =
    state.kind !== 'compacted'
      ? NOTHING
      : table(
          'compactions',
          [
            'compaction',
            'time',
            'bytes before',
            'bytes after',
            'lines kept',
            'lines archived',
            'SHA-256 before',
            'SHA-256 after',
          ],
          state.cycles.map(({ at, source, output, keptLines, archivedLines }, index) => [
            index + 1,
            html`<span class="when">${at.replace('T', ' ').slice(0, 16)}</span>`,
            source.bytes,
            output.bytes,
            keptLines,
            archivedLines,
            html`<code class="hash">${source.sha256}</code>`,
            html`<code class="hash">${output.sha256}</code>`,
          ]),
        );
  return html`<section id="ledger">
    <h2>Ledger</h2>
    <p class="note">
      Every message is counted once. Tokens are estimates
      (${tokens.by}).${bytes.before === null ? ' The size of the original is unknown.' : ''}
    </p>
    ${table('messages', ['outcome', 'messages', 'tokens'], rows)} ${cycles}
  </section>`;
}
