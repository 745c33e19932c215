import { isArchiveUrl } from '../../../core/paths.ts';
import type { ArchiveRole } from '../../../ports/archive.ts';
import { defineAction, type Session, EXIT_CODES } from '../../line/command.ts';

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
