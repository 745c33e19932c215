import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Names a machine, by default this one, in an archive that several share: its host name, and a hash of its id where it has one (machine-id(5)
 * asks not to store the id itself). Containers of one image may share the id, and machines of one network the host name.
 */
export function thisMachine({ host = hostname(), id = readMachineId() } = {}): string {
  return `${host} ${sha256(`compact ${id}`)}`;
}

function readMachineId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Names the user of this program on this machine, in 16 hexadecimal digits. */
export function thisUser({ machine = thisMachine(), user = process.getuid?.() ?? '' } = {}): string {
  return sha256(`${machine} ${user}`);
}

/** Loaded on first use, because loading it takes a tenth of the program's start-up time. */
function sha256(text: string): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', text).slice(0, 16);
}
