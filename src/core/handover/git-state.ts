import { type CompletedCall, QUOTED_WORD } from './calls.ts';
import { cutAtBlank } from './excerpt.ts';
import { type FileChange, shortNames } from './files.ts';
import { type HandoverLine, quoted } from './line.ts';
import type { Conversation } from './turns.ts';

const COMMITTED = /^\[([^\s\]]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.+)$/gm;
/** Options in front of what git is to do. */
const OPTIONS = /\bgit (?:-[Cc] \S+ |--?[\w-]+(?:=\S+)? )+/g;
/** Where a command runs git, not where it only speaks of it. */
const RUNS = String.raw`(?:^|[;&|(\n]|\b(?:then|do|else|sudo|time|command))[ \t]*(?:\w+=\S* )*git `;
const COMMITS = new RegExp(String.raw`${RUNS}(?:-C \S+ |-\S+ )*commit\b(?!-|.*--dry-run)`);
const PUSHES = new RegExp(String.raw`${RUNS}push\b([^;&|\n]*)`, 'g');
const PUSHES_NO_BRANCH = /(?:^|\s)(?:--dry-run|-n|--delete|-d)\b/;
/** A log of the current branch: without other branches, and without files. */
const LOGS_HEAD =
  /\bgit log\b(?:[ \t]+(?!--all\b|--branches|--remotes|-g\b)(?:-[^\s;&|]*(?:[ \t]+\d+)?|HEAD(?:[~^]\d*)*|[\w./@-]*\.\.(?:HEAD)?(?=[\s;&|]|$)|\d?>))*[ \t]*(?:$|[;&|\n)])/;
/** The first line of a commit's message behind the command: quoted, or in a here-document. */
const SUBJECT =
  /^[^;&|\n]*?(?:-\w*m (?:"([^"$\n]{3,200})|'([^'\n]{3,200}))|<<-?[ \t]*(["']?)\w+\3[^\n]*\n\s*(\S[^\n]{2,200}))/;
const MAX_COMMAND_CHARS = 10_000;
const MAX_COMMIT_CHARS = 1_000;
const COMMITS_NOTHING = /^(?:nothing (?:added )?to commit|no changes added to commit|Aborting commit|error: |fatal: )/m;
/** Not of single files. */
const UNDOES_COMMITS = /\bgit reset (?:--?(\w+) )?HEAD(?:~(\d{0,3})|(\^+))(?=[\s;&|]|$)(?! +[^\s;&|>\d])/;
const IS_REFUSED = /^ *! \[|^(?:error|fatal): /m;
const LOGGED = /^([0-9a-f]{7,40}) (?:\([^)]*\) )?(.+)$/gm;
const TAKES_BRANCH =
  /\bgit (checkout -[bB]|switch -[cC]|checkout|switch|branch -m) (?!HEAD\b|-|[0-9a-f]{7,40}\b)([\w./-]+)\s*(?:$|&|;|2>)/;
const TAKES_NOTHING = /^(?:Updated \d+ path|error: |fatal: )/m;
const ON_BRANCH = /^(?:On branch|Switched to (?:a new )?branch) ['"]?([\w./-]+)/m;
const REBASED = /^Successfully rebased and updated refs\/heads\/(\S+?)\.?$/m;
const CONFLICT = /^CONFLICT \(|^Automatic merge failed|^error: could not apply /m;
const ENDS_MERGE = /\bgit (?:merge|rebase|cherry-pick) --(?:continue|abort|skip|quit)\b/;
/** What a push prints of the branch: its old and new commit. A fetch prints the same of branches elsewhere. */
const PUSHED = /\b[0-9a-f]{7,40}\.\.\.?([0-9a-f]{7,40}) +\S+ +-> +(?!\w+\/)/;
const TELLS_OF_PUSH = /\bpushed\b(?<!(?:\b(?:not|never|nothing|none|be)|n['’]t)\b[^.\n]{0,30}pushed)/i;
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
  /** Where it was made; null: unknown, or other branches may have it too. */
  branch: string | null;
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
  /** Those of them that a rebase does not commit: written whole, so that git may not know them yet, or stashed. */
  readonly unknown: Set<string>;
  /** The messages that committed. */
  readonly messageIds: string[];
};

/** A command that ran and did not fail. */
type Run = {
  /** Without quoted words. */
  readonly command: string;
  readonly said: string;
  readonly made: readonly MadeCommit[];
  readonly messageIds: readonly string[];
};

/** A commit that a command makes. A subject that does not show is null. */
type MadeCommit = { readonly subject: string | null; readonly isAmending: boolean };

/** The branch, the commits and pushes of the session, and what was changed after the last commit; long parts on lines of their own. */
export function gitLines({
  calls,
  conversation,
  files,
}: {
  calls: readonly CompletedCall[];
  conversation: Conversation;
  files: readonly FileChange[];
}): readonly HandoverLine[] {
  const git = readGit(calls);
  if (git.commits.length === 0) for (const { path, isRestored } of files) if (isRestored) git.changed.delete(path);
  const { branch, commits, pending, changed, messageIds } = git;
  if (branch === null && commits.length === 0 && pending.length === 0 && changed.size === 0) return [];
  const steps = [...conversation.summaries, ...conversation.turns.flatMap((turn) => turn.steps)];
  const tellsOfPush = steps.some(
    (step) => (step.kind === 'said' || step.kind === 'summary') && TELLS_OF_PUSH.test(step.text),
  );
  const parts = describe(git, tellsOfPush);
  const all = parts.join('; ');
  const long = all.length > MAX_LINE_CHARS ? parts.filter((part) => part.length > MAX_PART_CHARS) : [];
  const head = parts.filter((part) => !long.includes(part)).join('; ') || (long.shift() ?? '');
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
    unknown: new Set(),
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
    for (const { path, kind } of call.edits) if (kind === 'whole') git.unknown.add(path);
    if (!/\bgit\b|\bgh (?:pr|api)\b/.test(command) || IS_ELSEWHERE.test(call.folder ?? command)) continue;
    const made = commitsIn(command);
    // Nobody knows how it ended.
    if (answer === null) git.pending.push(...made.map(({ subject }) => subject ?? ''));
    else readRun(git, { command: withoutQuotes(command).replace(OPTIONS, 'git '), said: answer, made, messageIds });
  }
  return git;
}

function readRun(git: GitState, run: Run): void {
  const { command, said, made } = run;
  if ((made.length > 0 || ENDS_MERGE.test(command)) && !CONFLICT.test(said)) git.underWay = null;
  readBranch(git, run);
  readUndone(git, command);
  readCommits(git, run);
  if (LOGS_HEAD.test(command)) readLog(git, said);
  if (!IS_REFUSED.test(said)) for (const branch of pushedBranches(command)) readPush(git, branch ?? git.branch, said);
  if (/nothing to commit, working tree clean/.test(said)) git.isClean = true;
  const spokenOf = PULL_REQUEST_NUMBER.exec(command);
  if (spokenOf !== null) git.pullRequest ??= `pull request #${spokenOf[1] ?? spokenOf[2]}`;
  if (/\bgh pr create\b/.test(command)) {
    const url = PULL_REQUEST.exec(said)?.[0];
    if (url !== undefined) git.pullRequest = command.includes('--draft') ? `draft ${url}` : url;
  }
  if (/\bgh pr ready\b/.test(command)) git.pullRequest = git.pullRequest?.replace(/^draft /, '') ?? null;
}

/** The commits that a branch may have. */
function commitsOf({ commits }: GitState, branch: string | null): readonly Commit[] {
  return commits.filter((commit) => branch === null || commit.branch === null || commit.branch === branch);
}

/** A rebase that told nothing gave commits other hashes. */
function readLog(git: GitState, said: string): void {
  const logged = Map.groupBy(said.matchAll(LOGGED), ([, , subject = '']) => subject.trim());
  for (const commit of commitsOf(git, git.branch).toReversed()) {
    const [, hash] = logged.get(commit.subject?.trim() ?? '')?.shift() ?? [];
    if (hash === undefined) continue;
    const { hash: known } = commit;
    if (known !== null && !hash.startsWith(known) && !known.startsWith(hash)) commit.isPushed = false;
    commit.hash = hash;
  }
}

function readPush(git: GitState, branch: string | null, said: string): void {
  const pushed = commitsOf(git, branch);
  for (const commit of pushed) commit.isPushed = true;
  if (branch !== git.branch) return;
  git.isPushed = true;
  git.isRebased = false;
  const newest = pushed.at(-1);
  if (newest !== undefined) newest.hash ??= PUSHED.exec(said)?.[1] ?? null;
}

/** The branches that a command pushes; null: the current one. */
function pushedBranches(command: string): readonly (string | null)[] {
  return Array.from(command.matchAll(PUSHES), ([, options = '']) => options).flatMap((options) => {
    if (PUSHES_NO_BRANCH.test(options)) return [];
    const [, ref = ''] = options.split(/\s+/).filter((word) => word !== '' && !/^-|^\d?>/.test(word));
    if (ref === '') return options.includes('--tags') ? [] : [null];
    // A deletion, or the tag of a version.
    if (/^:|^v?\d+\.|^refs\/tags\//.test(ref)) return [];
    const branch = ref.replace(/^\+?(?:refs\/heads\/)?|:.*$/g, '');
    return [branch === 'HEAD' || branch.includes('$') ? null : branch];
  });
}

/** `$` stands for quoted words. */
function withoutQuotes(command: string): string {
  return command.replace(QUOTED_WORD, (quote) => (/\s/.test(quote) ? '$' : quote.slice(1, -1)));
}

function readBranch(git: GitState, { command, said }: Run): void {
  if (/stash/.test(`${command} ${said}`)) for (const path of git.changed) git.unknown.add(path);
  const rebased = REBASED.exec(said)?.[1];
  if (rebased !== undefined) {
    git.branch = rebased;
    git.isRebased = true;
    git.isPushed = false;
    // It begins with a clean tree otherwise, and what was edited for it is committed.
    git.changed = new Set([...git.changed].filter((path) => git.unknown.has(path)));
    for (const commit of commitsOf(git, rebased)) {
      // A pull leaves what is pushed as it is.
      if (commit.isPushed && /\bgit pull\b/.test(command)) continue;
      commit.isPushed = false;
      commit.hash = null;
    }
  }
  const shown = /git branch --show-current|rev-parse --abbrev-ref HEAD/.test(command)
    ? said.trim().split('\n').at(-1)
    : undefined;
  const [, how = '', taken] = (TAKES_NOTHING.test(said) ? null : TAKES_BRANCH.exec(command)) ?? [];
  const next =
    ON_BRANCH.exec(said)?.[1] ??
    (shown !== undefined && /^[\w./-]+$/.test(shown) ? shown : undefined) ??
    // A name with a dot may be a file.
    (taken?.includes('.') === true ? undefined : taken);
  // A new branch begins with the commits of the one before.
  if (how.includes(' -') || /\bgit merge\b/.test(command)) for (const commit of git.commits) commit.branch = null;
  if (next !== undefined && next !== '--') git.branch = next;
}

/** Commits that were taken back leave their files changed, unless these were taken back as well. */
function readUndone(git: GitState, command: string): void {
  const undone = UNDOES_COMMITS.exec(command);
  if (undone === null) return;
  const [, mode, number, carets] = undone;
  const count = carets?.length ?? Number(number || 1);
  for (const { files } of count === 0 ? [] : git.commits.splice(-count)) {
    if (mode !== 'hard') git.changed = new Set([...files, ...git.changed]);
  }
}

function readCommits(git: GitState, { said, made, messageIds }: Run): void {
  const printed = [...said.matchAll(COMMITTED)];
  const branch = printed.map(([, on]) => on).findLast((on) => on !== undefined && on !== 'detached');
  if (branch !== undefined) git.branch = branch;
  const commits =
    printed.length > 0
      ? printed.map(([, , hash = null, subject = ''], at) => {
          const isAmending = made.at(at - printed.length)?.isAmending === true;
          return { hash, subject, isAmending };
        })
      : COMMITS_NOTHING.test(said)
        ? []
        : made.map((commit) => ({ hash: null, ...commit }));
  if (commits.length === 0) return;
  const { changed } = git;
  for (const { hash, subject, isAmending } of commits) {
    const last = git.commits.at(-1);
    const amended = isAmending && last !== undefined && commitsOf(git, git.branch).includes(last) ? last : undefined;
    if (amended !== undefined) git.commits.pop();
    git.commits.push({
      hash,
      branch: git.branch,
      subject: subject ?? amended?.subject ?? null,
      files: amended === undefined ? changed : new Set([...amended.files, ...changed]),
      isAmended: amended !== undefined,
      isPushed: false,
    });
  }
  git.changed = new Set();
  git.unknown.clear();
  git.isPushed = false;
  git.messageIds.push(...messageIds.slice(0, 1));
}

function commitsIn(command: string): readonly MadeCommit[] {
  const [, ...commits] = command.split(COMMITS);
  return commits.map((rest) => {
    const read = rest.slice(0, MAX_COMMIT_CHARS);
    const [, double, single, , line] = SUBJECT.exec(read) ?? [];
    return { subject: double ?? single ?? line ?? null, isAmending: /^[^;&|\n]*--amend\b/.test(withoutQuotes(read)) };
  });
}

/** `tellsOfPush`: The assistant says that it pushed something, perhaps in a way that no call shows. */
function describe(git: GitState, tellsOfPush: boolean): readonly string[] {
  const { branch, commits, pending, pullRequest, underWay } = git;
  const known = new Set(commits.flatMap(({ hash, subject }) => (hash === null ? [] : [subject])));
  // A commit without a hash whose subject another one has was tried again.
  const made = commits.filter(({ hash, subject }) => hash !== null || !known.has(subject));
  const counted = `${made.length} ${made.length === 1 ? 'commit' : 'commits'} seen`;
  const waiting = made.filter(({ isPushed }) => !isPushed).length;
  const areNewest = made.slice(made.length - waiting).every(({ isPushed }) => !isPushed);
  const isPushed = made.length === 0 ? git.isPushed : waiting === 0;
  const unpushed =
    waiting === made.length
      ? tellsOfPush
        ? []
        : ['no push seen']
      : !areNewest
        ? [`no push seen of ${waiting} of them`]
        : waiting === 1
          ? ['the newest is not pushed']
          : [`the newest ${waiting} are not pushed`];
  return [
    ...(branch === null ? [] : [`branch \`${branch}\``]),
    ...(git.isRebased ? ['rebased'] : []),
    ...(underWay === null ? [] : [`a ${underWay} with conflicts was not ended`]),
    ...(made.length === 0 ? [] : [counted + commitNames(made)]),
    ...pending
      .filter((subject) => !known.has(subject))
      .slice(-MAX_COMMITS)
      .map((subject) => `a commit without a result${subject === '' ? '' : `: ${quoteSubject(subject)}`}`),
    ...(isPushed ? ['pushed'] : made.length > 0 || git.isRebased ? unpushed : []),
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
