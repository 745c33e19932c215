import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Names a machine, by default this one, in an archive that several share: its host name, and a hash of its id where it has one (machine-id(5)
 * asks not to store the id itself). Containers of one image may share the id, and machines of one network the host name.
 */
export function thisMachine({ host = hostname(), id = readMachineId() } = {}): string {
  return `${host} ${createHash('sha256').update(`compact ${id}`).digest('hex').slice(0, 16)}`;
}

function readMachineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    return '';
  }
}
