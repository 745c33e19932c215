const NOISE: readonly RegExp[] = [
  // A row of `ls -l`, and its head
  /^[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d/,
  /^total \d+[KMG]?$/,
  // One of many tests that passed; totals stay.
  /\bPASSED\b\s*(?:\[\s*\d{1,3}%\])?$/,
  /^--- PASS: |^ok\s+\S+\s+(?:\(cached\)|\d[\d.]*m?s\b)|^\?\s+\S+\s+\[no test files\]$|^test \S+ \.\.\. ok$/,
  /^(?:[✓✔√]|ok \d+\b)\s.{1,200}\(\d[\d.]*\s?m?s\)$/u,
  // Imports of any common language
  /^import\s(?:.*\bfrom\s+["']|["']|[\w.]+(?:\s+as\s+\w+)?;?$|static\s|type\s|\{)/,
  /^(?:from\s+[\w.]+\s+import\b|#include\s*[<"]|using\s+[\w.]+;$|(?:pub\s+)?use\s+[\w:]+(?:::\{.*)?;?$|package\s+[\w.]+;?$)/,
  /^export\s+(?:\*|\{[^}]*\})\s+from\s+["']/,
  /^(?:const|let|var)\s+[^=]{1,200}=\s*require\(/,
  /^\}\s*from\s+["']/,
  /^(?:[\w.]+\s+)?["'][@\w.-]+(?:\/[\w.@-]+)+["'],?$/,
  // The heads of a patch, whose files are listed by themselves
  /^\*\*\* (?:Begin|End|Add|Update|Delete|Move)\b/,
  // Progress
  /^\[?\s*\d{1,3}%[\]|\s]|\b\d{1,3}%\s*\||[█▏▎▍▌▋▊▉━]{4,}/u,
  /^(?:Downloading|Downloaded|Fetching|Compiling|Unpacking|Preparing to unpack|Selecting previously|Setting up|Get:\d+|Hit:\d+|remote: (?:Counting|Compressing|Enumerating))\b/,
];

/** A line of a listing, of progress or of imports: it takes room, and nobody misses it in a hand-over. */
export function isNoise(line: string): boolean {
  return NOISE.some((pattern) => pattern.test(line));
}
