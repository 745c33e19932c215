import { isArchiveUrl } from '../../../core/paths.ts';
import type { ArchiveRole } from '../../../ports/archive.ts';
import { defineAction } from '../../line/command.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES } from '../../terminal/exit-codes.ts';

const ROLES: readonly ArchiveRole[] = ['owner', 'writer', 'reader'];
const toRole = ([name, ...more]: readonly string[]): ArchiveRole | undefined =>
  more.length > 0 ? undefined : ROLES.find((role) => role === name);

export const grantsAction = defineAction({
  summary: 'print the SQL for a role in Postgres',
  flags: [],
  takes: [{ syntax: '<role>', description: 'owner, writer or reader' }],
  refuseOperands: (operands) =>
    toRole(operands) === undefined ? 'archive grants takes a role: owner, writer or reader' : null,
  run: async (session: Session, { operands }) => {
    const role = toRole(operands);
    if (role === undefined || !isArchiveUrl(session.settings.archive.path))
      return session.refuse('roles are for an archive in Postgres: --archive postgres://user@host/database');
    const described = await session.useCases.describeGrants(role);
    if (!described.ok) return session.fail({ kind: 'archive', failure: described.error });
    const { database, name, sql } = described.value;
    const note = `-- Run this as an administrator of the server, in the database ${database}. In psql, \\password ${name} gives it a password.`;
    session.answer(described.value, () => [note, ...sql]);
    return EXIT_CODES.done;
  },
});
