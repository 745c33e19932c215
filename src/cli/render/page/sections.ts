import type { FileReport, ReportedRequest, ReportState } from '../../../app/contract/file-report.ts';
import { renderFailure } from '../../../messages/failure.ts';
import { describeErased } from '../restore.ts';
import { countOf, formatBytes, formatCount, formatSaving, sumOf } from '../../../messages/quantities.ts';
import { shellWord } from '../../../messages/text.ts';
import { bar, counted, folded, html, type Html, messageLink, multiline, table } from './html.ts';

export type PageContext = {
  /** How the user calls this program. */
  readonly program: string;
  /** The flag that names the archive, if it is needed. */
  readonly archiveFlag: string | null;
  /** The transcript is a file that commands can name. */
  readonly isFile: boolean;
  readonly isRaw: boolean;
};

/** The answer to "is all well?", and the figures behind it. */
export function verdict(report: FileReport, context: PageContext): Html {
  const { state } = report;
  const told = state.kind === 'planned' ? plan(state) : state.kind === 'unproven' ? unproven(state) : proof(state);
  const facts =
    state.kind !== 'compacted'
      ? null
      : html`<dl class="facts">
          <dt>SHA-256 of the original</dt>
          <dd><code>${state.verified.original.sha256}</code></dd>
          <dt>Archive</dt>
          <dd><code>${state.verified.archive}</code></dd>
        </dl>`;
  return html`<section id="verdict" class="verdict">
    ${told} ${figures(report)} ${command(report, context)} ${facts}
  </section>`;
}

function plan({ reason }: Extract<ReportState, { readonly kind: 'planned' }>): Html {
  const what =
    reason === null
      ? 'Nothing was changed. This is what a compaction with the current settings would do.'
      : `Nothing was changed, and a compaction would change nothing (${reason.replaceAll('-', ' ')}).`;
  return html`<h2><span class="badge plan">Plan</span></h2>
    <p>${what}</p>`;
}

function unproven({ claims, failure }: Extract<ReportState, { readonly kind: 'unproven' }>): Html {
  const claim =
    claims === null
      ? ''
      : ` Its summary says that it stands for ${countOf(claims.messages, 'message')} of ${countOf(claims.cycles, 'compaction')}.`;
  return html`<h2><span class="badge bad">✕ Not proven</span></h2>
    <p>The original could not be read from the archive, so this page shows only what the file itself has.${claim}</p>
    <p class="problem">${renderFailure(failure)}</p>`;
}

function proof({ verified }: Extract<ReportState, { readonly kind: 'compacted' }>): Html {
  const { result, lines, problems, erased = [] } = verified;
  if (result === 'failed')
    return html`<h2><span class="badge bad">✕ Failed</span></h2>
      <p>The original could not be put together from the file and the archive.</p>
      <ul class="problem">
        ${problems.map(({ line, message }) => html`<li>${line === undefined ? '' : `line ${line}: `}${message}</li>`)}
      </ul>`;
  const since = lines.appended > 0 ? `, ${formatCount(lines.appended)} appended since` : '';
  const counts = `${countOf(lines.kept, 'line')} kept, ${formatCount(lines.archived)} archived${since}.`;
  if (result === 'reduced')
    return html`<h2><span class="badge">✓ Proven but for what was erased</span></h2>
      <p>${counts} Restore the rest with <code>compact restore --partial</code>.</p>
      <ul>
        ${erased.map((one) => html`<li>${describeErased(one)}</li>`)}
      </ul>`;
  return html`<h2><span class="badge good">✓ Verified</span></h2>
    <p>
      The original can be restored byte for byte. It was put together from the file and the archive for this page, and
      its SHA-256 is the one that was recorded before the first compaction. ${counts}
    </p>`;
}

function figures({ state, bytes, tokens, messages }: FileReport): Html {
  const isPlan = state.kind === 'planned';
  const left = messages.filter(({ outcome }) => outcome === 'summarized' || outcome === 'archived').length;
  const stay = `${formatCount(messages.length - left)} ${isPlan ? 'would stay' : 'in the file'}`;
  return html`<dl class="figures">
    ${change('Size', bytes, { format: formatBytes })}
    ${change('Tokens (estimate)', tokens, { format: formatCount, prefix: isPlan ? '≤ ' : '' })}
    ${count('Messages', messages.length, stay)}
    ${
      state.kind === 'compacted'
        ? count(
            'Compactions',
            state.cycles.length,
            `${countOf(state.verified.batches, 'batch', 'batches')} in the summary`,
          )
        : null
    }
  </dl>`;
}

function count(name: string, value: number, note: string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd><b>${formatCount(value)}</b> <span class="faint">${note}</span></dd>
  </div>`;
}

function change(
  name: string,
  { before, after }: { readonly before: number | null; readonly after: number | null },
  { format, prefix = '' }: { readonly format: (value: number) => string; readonly prefix?: string },
): Html {
  if (before === null || after === null)
    return html`<div>
      <dt>${name}</dt>
      <dd><b>${format(before ?? after ?? 0)}</b></dd>
    </div>`;
  const share = Math.min(100, (100 * after) / Math.max(1, before));
  return html`<div>
    <dt>${name}</dt>
    <dd>
      ${format(before)} → <b>${prefix}${format(after)}</b> <span class="faint">${formatSaving({ before, after })}</span>
      ${bar(share, { height: 6, least: 0.6, shownAs: null })}
    </dd>
  </div>`;
}

/** The command that comes next, ready to be pasted. */
function command({ state, file }: FileReport, { program, archiveFlag, isFile }: PageContext): Html | null {
  const next = isFile ? nextCommand(state) : null;
  if (next === null) return null;
  const flag = archiveFlag === null ? '' : ` --archive ${shellWord(archiveFlag)}`;
  return html`<p class="command">
    <span>${next.purpose}:</span>
    <code id="command">${program}${next.words} ${shellWord(file)}${flag}</code>
    <button type="button" data-copy="command" hidden>Copy</button>
  </p>`;
}

function nextCommand(state: ReportState): { readonly purpose: string; readonly words: string } | null {
  if (state.kind === 'planned') return state.reason === null ? { purpose: 'To compact it', words: ' -i' } : null;
  if (state.kind === 'unproven' || state.verified.result !== 'verified') return null;
  if (state.cycles.length === 1) return { purpose: 'To undo the compaction', words: ' restore -i' };
  // If the program rewrote the file after an earlier compaction, that one cannot be undone.
  if (state.verified.isStillCompacted === true) return { purpose: 'To undo the last compaction', words: ' restore -i' };
  return { purpose: 'To undo all compactions', words: ' restore -i --all' };
}

const FIRST_REQUESTS = 5;
const LAST_REQUESTS = 15;
/** Of longer conversations, the page lists the newest; all of them are among the messages. */
const MOST_HIDDEN = 400;

export function rulesAndRequests({ rules, requests, state }: FileReport): Html {
  const where = state.kind === 'planned' ? 'would stand' : 'stand';
  const list =
    rules.length === 0
      ? html`<p class="faint">No standing rules were found.</p>`
      : lineList(rules.map((rule) => ({ ...rule, text: multiline(rule.text) })));
  const hidden = requests.slice(FIRST_REQUESTS, Math.max(FIRST_REQUESTS, requests.length - LAST_REQUESTS));
  const shown =
    requests.length === 0
      ? html`<p class="faint">No message is known to be typed by a person.</p>`
      : html`${requestList(requests.slice(0, FIRST_REQUESTS))}
        ${
          hidden.length === 0
            ? null
            : folded(
                `${countOf(hidden.length, 'more request')} in between`,
                hidden.length > MOST_HIDDEN
                  ? html`<p class="note">The newest ${MOST_HIDDEN} of them. All are among the messages.</p>`
                  : null,
                requestList(hidden.slice(-MOST_HIDDEN)),
              )
        }
        ${requestList(requests.slice(FIRST_REQUESTS + hidden.length))}`;
  return html`<h3>${counted('Rules that hold', rules.length)}</h3>
    <p class="note">Standing rules of the user. They ${where} at the head of the summary.</p>
    ${list}
    <h3>${counted('Requests and how they ended', requests.length)}</h3>
    ${shown}`;
}

/** Texts, each with the message that it comes from. */
function lineList(lines: readonly { readonly text: Html; readonly message: number | null }[]): Html {
  return html`<ul class="lines">
    ${lines.map(({ text, message }) => html`<li><span>${text}</span>${messageLink(message)}</li>`)}
  </ul>`;
}

function requestList(requests: readonly ReportedRequest[]): Html | null {
  if (requests.length === 0) return null;
  return html`<ul class="requests">
    ${requests.map(
      ({ message, text, ending }) =>
        html`<li>
          <p class="asked"><span>${multiline(text)}</span>${messageLink(message)}</p>
          ${ending === null ? null : html`<p class="ended"><span>${multiline(ending.text)}</span>${messageLink(ending.message)}</p>`}
        </li> `,
    )}
  </ul>`;
}

export function summary({ summaries }: FileReport): Html | null {
  if (summaries.length === 0) return null;
  const quoted = summaries.flat().filter(({ source }) => source !== null).length;
  const texts = summaries.flat().filter(({ kind }) => kind === 'text').length;
  return html`<p class="note">
      What the file says in place of the messages that left.
      ${quoted === 0 ? '' : `${formatCount(quoted)} of ${countOf(texts, 'line')} quote a message; the number leads to it.`}
    </p>
    ${summaries.map(
      (lines) =>
        html`<div class="summary">
          ${lines.map(({ kind, text, source }) =>
            kind === 'blank'
              ? null
              : kind === 'heading'
                ? html`<h3>${text.replace(/^#+ /, '')}</h3> `
                : html`<p class="${kind}"><span>${text}</span>${messageLink(source)}</p> `,
          )}
        </div>`,
    )}`;
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

export function audit({ audit: found }: FileReport): Html | null {
  if (found === null) return null;
  const { kept, total, lost } = found;
  const share = total === 0 ? 100 : (100 * kept) / total;
  const groups = Object.entries(KINDS).flatMap(([kind, title]): readonly Html[] => {
    const own = lost.filter((fact) => fact.kind === kind);
    if (own.length === 0) return [];
    const more = own.length - MOST_LOST;
    return [
      folded(
        counted(title, own.length),
        lineList(own.slice(0, MOST_LOST).map((fact) => ({ ...fact, text: html`${fact.text}` }))),
        more > 0 ? html`<p class="faint">and ${formatCount(more)} more</p>` : null,
      ),
    ];
  });
  return html`<p>
      <b>${formatCount(kept)}</b> of <b>${formatCount(total)}</b> facts in the summarized messages are in the summary
      (${share.toFixed(0)} %). The others are only in the archive, where <code>compact search</code> finds them.
    </p>
    ${bar(share, { height: 10, least: 0.5, shownAs: `${share.toFixed(0)} % kept` })}
    <h3>Not in the summary</h3>
    ${groups.length === 0 ? html`<p class="faint">Nothing.</p>` : groups}`;
}

const CYCLE_HEADS =
  'compaction, time, bytes before, bytes after, lines kept, lines archived, SHA-256 before, SHA-256 after';

export function ledger({ state, messages, bytes, tokens }: FileReport): Html {
  const going = state.kind === 'planned' ? 'would leave' : 'left';
  const rowOf = (name: string, outcome: string | null): readonly [string, number, number] => {
    const own = messages.filter((message) => outcome === null || message.outcome === outcome);
    return [name, own.length, sumOf(own, (message) => message.tokens)];
  };
  const rows = [
    rowOf('stay in the file', 'kept'),
    rowOf('quoted word for word', 'quoted'),
    rowOf(`${going}, summarized`, 'summarized'),
    rowOf(`${going}, not summarized`, 'archived'),
    rowOf('all', null),
  ];
  const cycles =
    state.kind !== 'compacted'
      ? null
      : table(
          'compactions',
          CYCLE_HEADS.split(', '),
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
  return html`<p class="note">
      Every message is counted once. Tokens are estimates
      (${tokens.by}).${bytes.before === null ? ' The size of the original is unknown.' : ''}
    </p>
    ${table('messages', ['outcome', 'messages', 'tokens'], rows)} ${cycles}`;
}
