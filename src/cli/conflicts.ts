import type { CompactInvocation, ConfigInvocation, Invocation, RestoreInvocation } from './invocation.ts';

/** Why flags and operands cannot go together; null: they can. Only what the command line alone tells. */
export function findConflict(invocation: Invocation): string | null {
  switch (invocation.kind) {
    case 'compact':
      return compactConflict(invocation);
    case 'restore':
      return restoreConflict(invocation);
    case 'verify':
      if (invocation.operands.length === 0 && invocation.filesFrom === null) {
        return 'no compacted file named: give files, folders, globs, or - for standard input';
      }
      return stdinConflict(invocation.operands, invocation.filesFrom);
    case 'scan':
      return invocation.operands.includes('-') ? 'a scan looks into folders, not into standard input (-)' : null;
    case 'mcp':
      return invocation.allowsCompacting && invocation.folders.length === 0
        ? '--allow-compact needs the folders whose transcripts may be compacted'
        : null;
    case 'config':
      return configConflict(invocation);
    case 'score':
      return stdinConflict(invocation.operands, null);
    default:
      return null;
  }
}

function stdinConflict(operands: readonly string[], filesFrom: string | null): string | null {
  const readers = [...operands, ...(filesFrom === null ? [] : [filesFrom])].filter((name) => name === '-');
  return readers.length > 1 ? 'standard input (-) can be read only once' : null;
}

function compactConflict({ operands, filesFrom, output, isDryRun, manner }: CompactInvocation): string | null {
  if (operands.length === 0 && filesFrom === null)
    return 'no transcript named: give files, folders, globs, or - for standard input';
  if (operands.includes('-')) {
    if (operands.length > 1 || filesFrom !== null) return 'standard input (-) must be the only input';
    if (output.kind === 'in-place') return '--in-place cannot replace standard input (-)';
  }
  if (output.kind !== 'stdout') return null;
  if (operands.length > 1 || filesFrom !== null)
    return 'several transcripts cannot share standard output: give a folder with -o';
  return manner.json && !isDryRun ? SHARED_STDOUT : null;
}

function configConflict({ action, file, change, settings }: ConfigInvocation): string | null {
  if (action !== 'trust') {
    return file === null && change === null ? null : `config ${action} takes no file, no --list and no --revoke`;
  }
  if (settings.configFlag !== null) return 'a file that --config names is trusted as it is';
  return change === 'list' && file !== null ? '--list takes no file' : null;
}

function restoreConflict({ operand, output, manner }: RestoreInvocation): string | null {
  if (operand === '-' && output.kind === 'in-place') return '--in-place cannot replace standard input (-)';
  return manner.json && output.kind === 'stdout' ? SHARED_STDOUT : null;
}

const SHARED_STDOUT = '--json and the result cannot share standard output: write the result to a file with -o';
