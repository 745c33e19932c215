import { listSource, type ReadTranscript } from './prepare.ts';

/** Longer lines are no titles but pasted text. */
const MAX_TITLE_CHARS = 200;

/** As the producer's list shows it, or else the first line of the first request. */
export function findTitle(transcript: ReadTranscript, maxChars = MAX_TITLE_CHARS): string | null {
  const listed = transcript.codec.listedTitle?.(listSource(transcript)) ?? null;
  const text = listed ?? findFirstRequest(transcript) ?? '';
  const line = text.split('\n').find((one) => one.trim() !== '');
  return line === undefined ? null : Array.from(line.trim().replace(/\s+/g, ' ')).slice(0, maxChars).join('');
}

/** A clip-archive names the requests that have left the file. */
function findFirstRequest({ recordIndex, readMessage, conversations }: ReadTranscript): string | null {
  const prior = conversations[0]?.prior;
  const isOurs = prior?.kind === 'lineage' || (prior?.kind === 'foreign' && prior.isOurs);
  const listed = isOurs ? findListedRequest(prior.text) : null;
  if (listed !== null) return listed;
  const entry = recordIndex.entries.find(({ typedTokens }) => typedTokens !== undefined);
  return entry === undefined ? null : (readMessage(entry)?.typed ?? null);
}

function findListedRequest(clipArchive: string): string | null {
  const [, requests = ''] = clipArchive.split('\n## Requests and how they ended\n', 2);
  return /^1\. (?:\(rejecting a call\) )?(.+)$/m.exec(requests)?.[1] ?? null;
}
