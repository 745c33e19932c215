import { parseBytes } from '../../../config/quantity.ts';
import { defineAction, type Session, type Flag } from '../../line/command.ts';
import { answerMerge } from './merge.ts';

export const IMPORT_FLAGS = [
  {
    flags: '--max-line <size>',
    description: 'the longest line or group of rows to accept (64MiB)',
    parse: parseBytes,
  },
] as const satisfies readonly Flag[];

export const importAction = defineAction({
  summary: 'add an export',
  flags: IMPORT_FLAGS,
  takes: [{ syntax: '<folder>', description: 'the folder of an export' }],
  refuseOperands: (operands) => (operands.length === 1 ? null : 'name one folder to import: that of an export'),
  run: async (session: Session, { operands, options }) => {
    const request = { folder: operands[0] ?? '', maxLineBytes: options.maxLine ?? null };
    return answerMerge(session, await session.useCases.importArchive(request));
  },
});
