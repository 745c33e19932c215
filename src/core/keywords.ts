/** Which keywords of a list a text holds, in the list's order. Equal answers are one shared array. */
export type KeywordMatcher = (text: string) => readonly string[];

/** What is still looked for once some keywords were found. Texts with the same keywords share one array. */
type Search = {
  readonly found: readonly string[];
  readonly missing: readonly string[];
  readonly pattern: RegExp | null;
};

/**
 * Finds keywords as substrings, whatever their case (Unicode simple case folding). Keywords that differ only in case count once, an
 * empty one never matches, and none is read as a pattern.
 */
export function createKeywordMatcher(keywords: readonly string[]): KeywordMatcher {
  const distinct = distinctKeywords(keywords);
  const searches = new Map<string, Search>();
  const searchAfter = (found: readonly string[]): Search => {
    const key = JSON.stringify(found);
    const known = searches.get(key);
    if (known !== undefined) return known;
    const missing = distinct.filter((keyword) => !found.includes(keyword));
    const made = { found, missing, pattern: missing.length === 0 ? null : anyOf(missing) };
    searches.set(key, made);
    return made;
  };
  const start = searchAfter([]);
  return (text) => {
    let search = start;
    for (let from = 0; search.pattern !== null;) {
      search.pattern.lastIndex = from;
      const match = search.pattern.exec(text);
      if (match === null) break;
      // On from the same place: another keyword may begin there as well.
      from = match.index;
      const hit = search.missing[match.findIndex((group, at) => at > 0 && group !== undefined) - 1];
      const { found } = search;
      search = searchAfter(distinct.filter((keyword) => keyword === hit || found.includes(keyword)));
    }
    return search.found;
  };
}

function distinctKeywords(keywords: readonly string[]): readonly string[] {
  const byFold = new Map<string, string>();
  for (const keyword of keywords) {
    const fold = keyword.toLowerCase();
    if (fold !== '' && !byFold.has(fold)) byFold.set(fold, keyword);
  }
  return [...byFold.values()];
}

/** One pattern for all that is still missing: a text is gone through once, and once more from each first hit on. */
function anyOf(keywords: readonly string[]): RegExp {
  const escaped = keywords.map((keyword) => `(${keyword.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')})`);
  return new RegExp(escaped.join('|'), 'giu');
}
