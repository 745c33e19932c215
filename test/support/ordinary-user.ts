import { getuid, setgid, setgroups, setuid } from 'node:process';

/** By custom the user and group that own nothing. */
const NOBODY = 65534;

/**
 * From here on this process is bound by permissions, as root is not. There is no way back: for test files (test/unit.ts gives each a process of
 * its own) that test nothing else. What has to be imported is imported before, nobody may be able to read it afterwards.
 */
export function becomeOrdinaryUser(): void {
  if (getuid?.() !== 0) return;
  setgroups?.([]);
  setgid?.(NOBODY);
  setuid?.(NOBODY);
}
