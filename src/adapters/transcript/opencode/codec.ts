import type { Codec } from '../../../ports/codec.ts';
import { NOT_A_DOCUMENT } from '../listed/detection.ts';
import { createListRecords } from '../listed/records.ts';
import { detectExport } from './detect.ts';
import { createSession } from './session.ts';

/** What `opencode export` writes and `opencode import` reads: one session. */
export const openCode: Codec = {
  format: {
    name: 'opencode',
    title: 'OpenCode session',
    summary: 'a session that opencode export wrote',
    checked: 'compacted sessions imported and resumed by OpenCode 1.18.33',
    isChain: false,
    lastStays: true,
  },
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'] }),
  detect: () => NOT_A_DOCUMENT,
  detectDocument: detectExport,
  open: createSession,
};
