import type { Role } from '../core/message.ts';
import type { SoughtWord } from '../core/search/question.ts';
import type { Candidate } from '../core/search/rank.ts';
import type { FoundMessage } from './archive-lookup.ts';

/** What may be found; null: any. */
export type SearchFilter = {
  readonly conversationId: string | null;
  readonly role: Role | null;
  /** From then on, and until before then; what has no time is in neither. */
  readonly since: Date | null;
  readonly until: Date | null;
  /** The file it stood in: its path from the root, or the end of one. */
  readonly source: string | null;
};

export type StoredCandidate = Candidate & {
  /** Of its line, hex. */
  readonly sha256: string;
};

/** The archived messages by their words. Ids are those of lines, and messages near each other have ids near each other. */
export type MessageIndex = {
  /** About as many as there are. */
  readonly countMessages: () => number;
  /** Everybody, people and models, who is named as having said a message. */
  readonly listSpeakers: () => readonly string[];
  /** How many messages have a word; no more than `atMost` are counted. */
  readonly countHits: (word: SoughtWord, atMost: number) => number;
  /** Those that have it, in order of ids, whether they were applied or not; a filter leaves out what it can cheaply. */
  readonly listHits: (word: SoughtWord, filter: SearchFilter) => readonly number[];
  /** Those of some (in order) that have it. */
  readonly listHitsAmong: (word: SoughtWord, lineIds: readonly number[]) => readonly number[];
  /** What can be found of some ids, in any order: applied, let through by the filter, and a message. */
  readonly loadCandidates: (lineIds: readonly number[], filter: SearchFilter) => readonly StoredCandidate[];
  /** What has any of the words, what was archived last first; a line that was archived more than once for one conversation comes once. */
  readonly listNewest: (
    words: readonly SoughtWord[],
    limits: { readonly filter: SearchFilter; readonly limit: number },
  ) => readonly FoundMessage[];
  /** Does several of these in one state of the archive. */
  readonly inOneState: <T>(work: () => T) => T;
};
