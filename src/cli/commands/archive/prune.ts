import { parseBytes, parseCountOrZero, parseSince } from '../../../config/quantity.ts';
import { defineAction, type Session, type Flag } from '../../line/command.ts';
import { readTime } from '../../line/flags.ts';
import { answerErase } from './erase.ts';
import { CONFIRM_FLAG } from './shared.ts';

export const POLICY_FLAGS = [
  {
    flags: '--older-than <age>',
    description: 'conversations last archived more than 180d, 6mo, 1y ago, or before 2026-03-01',
    parse: parseSince,
  },
  {
    flags: '--max-size <size>',
    description: 'remove the oldest until the archive is about this size (20GB)',
    parse: parseBytes,
  },
  {
    flags: '--keep-last <n>',
    description: 'always keep this many of the newest conversations',
    parse: parseCountOrZero,
  },
  { flags: '--project <glob>', description: 'only transcripts in folders that match' },
] as const satisfies readonly Flag[];

export const pruneAction = defineAction({
  summary: 'remove old conversations',
  flags: [...POLICY_FLAGS, CONFIRM_FLAG],
  needs: ['archive', 'retention'],
  findConflict: ({ options }) =>
    /^\/*$/.test(options.project ?? '-') ? '--project must name a folder or a glob' : null,
  run: async (session: Session, { options }) => {
    const { olderThan, maxSize, keepLast, project = null, yes } = options;
    const { older_than: age, max_size: size, keep_last: kept } = session.settings.retention;
    // Checked when the configuration was loaded.
    const configuredBefore = age === null ? null : parseSince(age, Date.now());
    const configuredSize = size === null ? null : parseBytes(size);
    const policy = {
      before: readTime(olderThan ?? (configuredBefore?.ok === true ? configuredBefore.value : undefined)),
      maxBytes: maxSize ?? (configuredSize?.ok === true ? configuredSize.value : null),
      keepLast: keepLast ?? kept,
      project,
    };
    if (policy.before === null && policy.maxBytes === null)
      return session.refuse('archive prune needs --older-than or --max-size, or a [retention] in the configuration');
    return answerErase(session, await session.useCases.pruneArchive({ ...policy, isConfirmed: yes === true }));
  },
});
