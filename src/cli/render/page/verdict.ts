import type { FileReport, ReportState } from '../../../app/contract/file-report.ts';
import { countOf, formatBytes, formatCount, formatSaving } from '../quantities.ts';
import { renderFailure } from '../failure.ts';
import { shellWord } from '../text.ts';
import { html, type Html, NOTHING } from './html.ts';

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
  return html`<section id="verdict" class="verdict">
    ${told} ${figures(report)} ${command(report, context)} ${state.kind === 'compacted' ? facts(state) : NOTHING}
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

type Compacted = Extract<ReportState, { readonly kind: 'compacted' }>;

function proof({ verified: { result, lines, problems } }: Compacted): Html {
  if (result === 'failed')
    return html`<h2><span class="badge bad">✕ Failed</span></h2>
      <p>The original could not be put together from the file and the archive.</p>
      <ul class="problem">
        ${problems.map(({ line, message }) => html`<li>${line === undefined ? '' : `line ${line}: `}${message}</li>`)}
      </ul>`;
  const since = lines.appended > 0 ? `, ${formatCount(lines.appended)} appended since` : '';
  const counts = `${countOf(lines.kept, 'line')} kept, ${formatCount(lines.archived)} archived${since}.`;
  return html`<h2><span class="badge good">✓ Verified</span></h2>
    <p>
      The original can be restored byte for byte. It was put together from the file and the archive for this page, and
      its SHA-256 is the one that was recorded before the first compaction. ${counts}
    </p>`;
}

function facts({ verified }: Compacted): Html {
  return html`<dl class="facts">
    <dt>SHA-256 of the original</dt>
    <dd><code>${verified.original.sha256}</code></dd>
    <dt>Archive</dt>
    <dd><code>${verified.archive}</code></dd>
  </dl>`;
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
        : NOTHING
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
  const share = Math.max(0.6, Math.min(100, (100 * after) / Math.max(1, before))).toFixed(2);
  return html`<div>
    <dt>${name}</dt>
    <dd>
      ${format(before)} → <b>${prefix}${format(after)}</b> <span class="faint">${formatSaving({ before, after })}</span>
      <svg class="bar" width="100%" height="6" aria-hidden="true">
        <rect class="track" width="100%" height="6" rx="3" />
        <rect class="fill" width="${share}%" height="6" rx="3" />
      </svg>
    </dd>
  </div>`;
}

/** The command that comes next, ready to be pasted. */
function command({ state, file }: FileReport, { program, archiveFlag, isFile }: PageContext): Html {
  const next = isFile ? nextCommand(state) : null;
  if (next === null) return NOTHING;
  const flag = archiveFlag === null ? '' : ` --archive ${shellWord(archiveFlag)}`;
  return html`<p class="command">
    <span>${next.purpose}:</span>
    <code id="command">${program}${next.words} ${shellWord(file)}${flag}</code>
    <button type="button" data-copy="command" hidden>Copy</button>
  </p>`;
}

function nextCommand(state: ReportState): { readonly purpose: string; readonly words: string } | null {
  if (state.kind === 'planned') return state.reason === null ? { purpose: 'To compact it', words: ' -i' } : null;
  if (state.kind === 'unproven' || state.verified.result === 'failed') return null;
  if (state.cycles.length === 1) return { purpose: 'To undo the compaction', words: ' restore -i' };
  // If the program rewrote the file after an earlier compaction, that one cannot be undone.
  if (state.verified.isStillCompacted === true) return { purpose: 'To undo the last compaction', words: ' restore -i' };
  return { purpose: 'To undo all compactions', words: ' restore -i --all' };
}
