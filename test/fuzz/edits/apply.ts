import { assertNever } from '../../../src/core/result.ts';
import type { Edit } from './edit.ts';
import { addMember, borrowValue, growValue, nestValue, setValue } from './json.ts';

/** Lines without their endings; one may hold line endings after an edit. */
export type Lines = readonly Buffer[];

export function applyEdits(lines: Lines, edits: readonly Edit[]): Lines {
  return edits.reduce((sofar, edit) => (sofar.length === 0 ? sofar : applyEdit(sofar, edit)), lines);
}

function applyEdit(lines: Lines, edit: Edit): Lines {
  const at = edit.at % lines.length;
  const line = lines[at] ?? Buffer.alloc(0);
  switch (edit.kind) {
    case 'double':
      return lines.toSpliced(edit.to % (lines.length + 1), 0, line);
    case 'move':
      return lines.toSpliced(at, 1).toSpliced(edit.to % lines.length, 0, line);
    case 'swap': {
      const to = edit.to % lines.length;
      return lines.with(at, lines[to] ?? line).with(to, line);
    }
    case 'delete':
      return lines.toSpliced(at, 1);
    case 'glue':
      return lines.toSpliced(at, 2, Buffer.concat(lines.slice(at, at + 2)));
    case 'insert':
      return lines.toSpliced(at, 0, Buffer.from(edit.line, 'latin1'));
    case 'cut':
      return lines.with(at, line.subarray(0, edit.to % (line.length + 1)));
    default:
      return lines.with(at, editLine(line, edit, lines));
  }
}

function editLine(
  line: Buffer,
  edit: Exclude<Edit, { kind: 'double' | 'move' | 'swap' | 'delete' | 'glue' | 'insert' | 'cut' }>,
  lines: Lines,
): Buffer {
  switch (edit.kind) {
    case 'set':
      return setValue(line, edit);
    case 'borrow':
      return borrowValue(line, lines[edit.to % lines.length] ?? line, edit.place);
    case 'nest':
      return nestValue(line, edit);
    case 'grow':
      return growValue(line, edit);
    case 'member':
      return addMember(line, edit);
    case 'flip':
      return line.length === 0 ? line : flip(line, edit.to % line.length, edit.bits);
    case 'bytes': {
      const to = edit.to % (line.length + 1);
      return Buffer.concat([line.subarray(0, to), Buffer.from(edit.bytes, 'latin1'), line.subarray(to)]);
    }
    default:
      return assertNever(edit);
  }
}

function flip(line: Buffer, at: number, bits: number): Buffer {
  const flipped = Buffer.from(line);
  flipped[at] = (flipped[at] ?? 0) ^ bits;
  return flipped;
}
