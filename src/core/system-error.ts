type Remedy = { readonly reason: string; readonly advice: string };

/** Errors of the system that have nothing to do with the disk or with what the file is. Files and archives say the same of them. */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  EMFILE: {
    reason: 'this program has too many files open',
    advice: 'Raise the limit (ulimit -n), or work on fewer files at a time with -j.',
  },
  ENFILE: { reason: 'the system has too many files open', advice: 'Close other programs, or try again later.' },
  ENAMETOOLONG: { reason: 'its name or its path is too long', advice: 'Name a shorter one.' },
};

/** What to say and to try for a system's code ("EMFILE"); null: nothing that is not already in the code. */
export function findRemedy(code: string): Remedy | null {
  return Object.hasOwn(REMEDIES, code) ? (REMEDIES[code] ?? null) : null;
}
