import type { PassedReport, SkipReason } from '../../app/contract/reports.ts';

const SKIP_WORDS: { readonly [reason in SkipReason | PassedReport['reason']]: string } = {
  'too-short': 'too short',
  'under-limit': 'under limit',
  'nothing-gained': 'no gain',
  'nothing-new': 'nothing new',
  'no-legal-cut': 'no legal cut',
  'in-use': 'open elsewhere',
  'no-messages': 'no messages',
  'no-text': 'no text',
  'not-a-transcript': 'no transcript',
  'unknown-format': 'unknown format',
  'mixed-formats': 'mixed formats',
  'bad-line': 'damaged',
};

/** Why nothing was done to a transcript, in a word or two. */
export function skipWords(reason: keyof typeof SKIP_WORDS | undefined): string {
  return reason === undefined ? 'nothing to do' : SKIP_WORDS[reason];
}
