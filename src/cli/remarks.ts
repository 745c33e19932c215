import type { CompactReport } from '../app/contract/reports.ts';
import { countOf, formatCount } from './render/quantities.ts';
import { safeText } from './render/safe-text.ts';
import type { Theme } from './render/theme.ts';

/** Remarks on the transcripts of a run: each is told once, with how many it is about. */
export type Remarks = {
  readonly add: (report: CompactReport) => void;
  readonly render: (theme: Theme) => readonly string[];
};

/** Beyond it only their number is told. */
const MAX_REMARKS = 20;

type Remark = { readonly file: string; count: number };

export function createRemarks(): Remarks {
  const known = new Map<string, Remark>();
  const state = { untold: 0 };
  const addNote = (note: string, file: string): void => {
    const remark = known.get(note);
    if (remark !== undefined) remark.count += 1;
    else if (known.size < MAX_REMARKS) known.set(note, { file, count: 1 });
    else state.untold += 1;
  };
  return {
    add: ({ result, notes, file }) => {
      // What is noted on a skip is its reason in numbers.
      if (result !== 'skipped') for (const note of notes) addNote(note, file);
    },
    render: (theme) => [
      ...[...known].map(([note, remark]) => theme.warning(renderRemark(note, remark))),
      ...(state.untold === 0
        ? []
        : [theme.warning(`note: … and ${formatCount(state.untold)} more; --json has them all`)]),
    ],
  };
}

function renderRemark(note: string, { file, count }: Remark): string {
  const others = count === 1 ? '' : ` and ${countOf(count - 1, 'other', 'others')}`;
  return `note: ${safeText(file)}${others}: ${safeText(note)}`;
}
