import type { CompletedCall } from './calls.ts';
import { cutAtBlank } from './excerpt.ts';
import { shortNames } from './files.ts';
import { type HandoverLine, quoted } from './line.ts';

const COMMITTED = /^\[([^\s\]]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.+)$/gm;
/** Options in front of what git is to do. */
const OPTIONS = /\bgit (?:-[Cc] \S+ |--?[\w-]+(?:=\S+)? )+/g;
/** Where a command commits, not where it only speaks of it. */
const COMMITS =
  /(?:^|[;&|(\n]|\b(?:then|do|else|sudo|time|command))[ \t]*(?:\w+=\S* )*git (?:-C \S+ |-\S+ )*commit\b(?!-|.*--dry-run)/;
/** The first line of a commit's message behind the command: quoted, or in a here-document. */
const SUBJECT =
  /^[^;&|\n]*?(?:-\w*m (?:"([^"$\n]{3,200})|'([^'\n]{3,200}))|<<-?[ \t]*(["']?)\w+\3[^\n]*\n\s*(\S[^\n]{2,200}))/;
const MAX_COMMAND_CHARS = 10_000;
const MAX_COMMIT_CHARS = 1_000;
const COMMITS_NOTHING = /^(?:nothing (?:added )?to commit|no changes added to commit|Aborting commit|error: |fatal: )/m;
const UNDOES_COMMITS = /\bgit reset (?:--(\w+) )?HEAD[~^](\d{0,3})/;
const IS_REFUSED = /^ *! \[|^(?:error|fatal): /m;
const LOGGED = /^([0-9a-f]{7,40}) (?:\([^)]*\) )?(.+)$/gm;
const TAKES_BRANCH =
  /\bgit (?:checkout -[bB]|switch -[cC]|checkout|switch|branch -m) (?!HEAD\b|-|[0-9a-f]{7,40}\b)([\w./-]+)\s*(?:$|&|;|2>)/;
const TAKES_NOTHING = /^(?:Updated \d+ path|error: |fatal: )/m;
const ON_BRANCH = /^(?:On branch|Switched to (?:a new )?branch) ['"]?([\w./-]+)/m;
const REBASED = /^Successfully rebased and updated refs\/heads\/(\S+?)\.?$/m;
const CONFLICT = /^CONFLICT \(|^Automatic merge failed|^error: could not apply /m;
const ENDS_MERGE = /\bgit (?:merge|rebase|cherry-pick) --(?:continue|abort|skip|quit)\b/;
/** What a push prints of the branch: its old and new commit. */
const PUSHED = /\b[0-9a-f]{7,40}\.\.\.?([0-9a-f]{7,40})\s/;
const PULL_REQUEST = /https?:\/\/\S+\/(?:pull|pulls|merge_requests)\/\d+/;
/** A command that reads, comments or merges one. */
const PULL_REQUEST_NUMBER = /\bgh pr (?!create)[\w-]+ #?(\d+)\b|\bgh api \S*\/pulls\/(\d+)\b/;
const IS_ELSEWHERE = /^\/(?:private\/)?(?:tmp|var\/folders)\b|mktemp|\$\{?(?:TMP|tmp)/;
const MAX_COMMITS = 6;
/** Longer lines are split at their long parts. */
const MAX_LINE_CHARS = 160;
const MAX_PART_CHARS = 80;
const MAX_NAMES = 12;

/** `files`: what was changed since the commit before. */
type Commit = {
  hash: string | null;
  readonly subject: string | null;
  readonly files: ReadonlySet<string>;
  readonly isAmended: boolean;
  isPushed: boolean;
};

/** What commands and edits showed of the repository so far. */
type GitState = {
  branch: string | null;
  /** Whether git said so after the last edit. */
  isClean: boolean;
  isPushed: boolean;
  isRebased: boolean;
  /** What stopped at a conflict and was not ended. */
  underWay: 'merge' | 'rebase' | null;
  /** Its address, behind `draft ` if it is one, or its number. */
  pullRequest: string | null;
  readonly commits: Commit[];
  /** The subjects of commits whose result is missing; empty: not shown. */
  readonly pending: string[];
  /** Paths that were edited since the last commit. */
  changed: Set<string>;
  /** The messages that committed. */
  readonly messageIds: string[];
};

/** A command that ran and did not fail. */
type Run = {
  readonly command: string;
  readonly said: string;
  /** Of the commits that it makes; null: not shown. */
  readonly subjects: readonly (string | null)[];
  readonly messageIds: readonly string[];
};

/** The branch, the commits and pushes of the session, and what was changed after the last commit; long parts on lines of their own. */
export function gitLines(calls: readonly CompletedCall[]): readonly HandoverLine[] {
  const git = readGit(calls);
  const { branch, commits, pending, changed, messageIds } = git;
  if (branch === null && commits.length === 0 && pending.length === 0 && changed.size === 0) return [];
  const parts = describe(git);
  const all = parts.join('; ');
  const long = all.length > MAX_LINE_CHARS ? parts.filter((part) => part.length > MAX_PART_CHARS) : [];
  const head = parts.filter((part) => !long.includes(part)).join('; ');
  return [`Git: ${head}`, ...long.map((part) => `- ${part}`)].map((text) => ({
    text: quoted(text.trimEnd()),
    messageIds,
  }));
}

/** Repositories in temp folders do not count. */
function readGit(calls: readonly CompletedCall[]): GitState {
  const git: GitState = {
    branch: null,
    isClean: false,
    isPushed: false,
    isRebased: false,
    underWay: null,
    pullRequest: null,
    commits: [],
    pending: [],
    changed: new Set(),
    messageIds: [],
  };
  for (const { call, answer, hasFailed, messageIds } of calls) {
    const command = call.command?.slice(0, MAX_COMMAND_CHARS) ?? '';
    if (/\bgit\b/.test(command) && CONFLICT.test(answer ?? '')) {
      git.underWay = /\brebase\b|could not apply/.test(`${command} ${answer}`) ? 'rebase' : 'merge';
    }
    if (hasFailed) continue;
    const written = call.written.filter((path) => !IS_ELSEWHERE.test(path));
    if (written.length > 0) git.isClean = false;
    for (const path of written) git.changed.add(path);
    if (!/\bgit\b|\bgh (?:pr|api)\b/.test(command) || IS_ELSEWHERE.test(call.folder ?? command)) continue;
    const subjects = subjectsIn(command);
    // Nobody knows how it ended.
    if (answer === null) git.pending.push(...subjects.map((subject) => subject ?? ''));
    else readRun(git, { command: command.replace(OPTIONS, 'git '), said: answer, subjects, messageIds });
  }
  return git;
}

function readRun(git: GitState, run: Run): void {
  const { command, said, subjects } = run;
  if ((subjects.length > 0 || ENDS_MERGE.test(command)) && !CONFLICT.test(said)) git.underWay = null;
  readBranch(git, run);
  readUndone(git, command);
  readCommits(git, run);
  if (/\bgit log\b/.test(command)) {
    const logged = new Map([...said.matchAll(LOGGED)].map(([, hash = '', subject = '']) => [subject.trim(), hash]));
    // A rebase gave them other hashes.
    for (const commit of git.commits) commit.hash = logged.get(commit.subject?.trim() ?? '') ?? commit.hash;
  }
  if (/\bgit push\b(?!.*--dry-run)/.test(command) && !IS_REFUSED.test(said)) {
    git.isPushed = true;
    git.isRebased = false;
    const head = PUSHED.exec(said)?.[1];
    const newest = git.commits.at(-1);
    if (head !== undefined && newest !== undefined) newest.hash = head;
    for (const commit of git.commits) commit.isPushed = true;
  }
  if (/nothing to commit, working tree clean/.test(said)) git.isClean = true;
  const spokenOf = PULL_REQUEST_NUMBER.exec(command);
  if (spokenOf !== null) git.pullRequest ??= `pull request #${spokenOf[1] ?? spokenOf[2]}`;
  if (/\bgh pr create\b/.test(command)) {
    const url = PULL_REQUEST.exec(said)?.[0];
    if (url !== undefined) git.pullRequest = command.includes('--draft') ? `draft ${url}` : url;
  }
  if (/\bgh pr ready\b/.test(command)) git.pullRequest = git.pullRequest?.replace(/^draft /, '') ?? null;
}

function readBranch(git: GitState, { command, said }: Run): void {
  const rebased = REBASED.exec(said)?.[1];
  if (rebased !== undefined) {
    git.branch = rebased;
    git.isRebased = true;
    git.isPushed = false;
    for (const commit of git.commits) commit.isPushed = false;
  }
  const shown = /git branch --show-current|rev-parse --abbrev-ref HEAD/.test(command)
    ? said.trim().split('\n').at(-1)
    : undefined;
  const taken = TAKES_NOTHING.test(said) ? undefined : TAKES_BRANCH.exec(command)?.[1];
  const next =
    ON_BRANCH.exec(said)?.[1] ??
    (shown !== undefined && /^[\w./-]+$/.test(shown) ? shown : undefined) ??
    // A name with a dot may be a file.
    (taken?.includes('.') === true ? undefined : taken);
  if (next !== undefined && next !== '--') git.branch = next;
}

/** Commits that were taken back leave their files changed, unless these were taken back as well. */
function readUndone(git: GitState, command: string): void {
  const undone = UNDOES_COMMITS.exec(command);
  if (undone === null) return;
  const [, mode, count] = undone;
  for (const { files } of git.commits.splice(-Number(count || 1))) {
    if (mode !== 'hard') git.changed = new Set([...files, ...git.changed]);
  }
}

function readCommits(git: GitState, { command, said, subjects, messageIds }: Run): void {
  const isAmended = subjects.length > 0 && command.includes('--amend') && git.commits.pop() !== undefined;
  const add = (commits: readonly Pick<Commit, 'hash' | 'subject'>[]): void => {
    if (commits.length === 0) return;
    const made = { files: git.changed, isAmended, isPushed: false };
    git.commits.push(...commits.map((commit) => ({ ...commit, ...made })));
    git.changed = new Set();
    git.isPushed = false;
    git.messageIds.push(...messageIds.slice(0, 1));
  };
  const printed = [...said.matchAll(COMMITTED)];
  const branch = printed.map(([, on]) => on).findLast((on) => on !== undefined && on !== 'detached');
  if (branch !== undefined) git.branch = branch;
  add(printed.map(([, , hash = null, subject = '']) => ({ hash, subject })));
  if (printed.length === 0 && !COMMITS_NOTHING.test(said)) add(subjects.map((subject) => ({ hash: null, subject })));
}

/** The subject of each commit that a command makes; null: it does not show. */
function subjectsIn(command: string): readonly (string | null)[] {
  const [, ...commits] = command.split(COMMITS);
  return commits.map((rest) => {
    const [, double, single, , line] = SUBJECT.exec(rest.slice(0, MAX_COMMIT_CHARS)) ?? [];
    return double ?? single ?? line ?? null;
  });
}

function describe(git: GitState): readonly string[] {
  const { branch, commits, pending, pullRequest, underWay } = git;
  const known = new Set(commits.flatMap(({ hash, subject }) => (hash === null ? [] : [subject])));
  // A commit without a hash whose subject another one has was tried again.
  const made = commits.filter(({ hash, subject }) => hash !== null || !known.has(subject));
  const counted = `${made.length} ${made.length === 1 ? 'commit' : 'commits'} in this session`;
  const waiting = made.filter(({ isPushed }) => !isPushed).length;
  const unpushed =
    made.length === 0 && !git.isRebased
      ? []
      : [
          waiting < made.length
            ? waiting === 1
              ? 'the newest is not pushed'
              : `the newest ${waiting} are not pushed`
            : 'no push seen',
        ];
  return [
    ...(branch === null ? [] : [`branch \`${branch}\``]),
    ...(git.isRebased ? ['rebased'] : []),
    ...(underWay === null ? [] : [`a ${underWay} with conflicts was not ended`]),
    ...(made.length === 0 ? [] : [counted + commitNames(made)]),
    ...pending
      .filter((subject) => !known.has(subject))
      .slice(-MAX_COMMITS)
      .map((subject) => `a commit without a result${subject === '' ? '' : `: ${quoteSubject(subject)}`}`),
    ...(git.isPushed ? ['pushed'] : unpushed),
    ...(pullRequest === null ? [] : [pullRequest]),
    ...describeChanges(git),
  ];
}

function describeChanges({ isClean, changed, commits }: GitState): readonly string[] {
  if (isClean) return ['working tree clean when last shown'];
  const names = shortNames([...changed]);
  if (names.length === 0) return commits.length > 0 ? ['no edits seen since'] : [];
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  const since = commits.length === 0 ? '' : ' since';
  return [`changed, no commit seen${since}: ${names.slice(-MAX_NAMES).join(', ')}${more}`];
}

/** The newest commits that have a hash or a subject. */
function commitNames(commits: readonly Commit[]): string {
  const names = commits.slice(-MAX_COMMITS).flatMap(({ hash, subject, isAmended }) => {
    const parts = [...(hash === null ? [] : [hash]), ...(subject === null ? [] : [quoteSubject(subject)])];
    return parts.length === 0 ? [] : [parts.join(' ') + (isAmended ? ' (amended)' : '')];
  });
  const shown = names.length === 0 ? '' : `, newest first: ${names.toReversed().join(', ')}`;
  return commits.every(({ hash }) => hash === null) ? `${shown} (no hash was shown)` : shown;
}

function quoteSubject(subject: string): string {
  return `“${cutAtBlank(subject, MAX_SUBJECT_CHARS)}”`;
}

const MAX_SUBJECT_CHARS = 100;
