import type { Codec } from '../../../ports/codec.ts';
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
    isDocument: true,
    lastStays: true,
  },
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'] }),
  detect: ([beginning = null]) => detectExport(beginning),
  open: createSession,
};
