import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertLinear } from '../../support/linear-time.ts';
import { call, edit, handoverOf as handover, type Part, result, run, said, section, typed } from './said.ts';

const stateOf = (parts: readonly Part[]): string => section(handover(parts), 'Where it stands');

test('a rebase, a merge that was not ended, a draft and the hash that a push shows belong to the state of git', () => {
  const state = stateOf([
    typed('Rebase it and open a draft.'),
    ...run('1', 'git rebase main', 'Successfully rebased and updated refs/heads/fix-oven.'),
    ...run('2', 'git commit -q -m "Heat faster"', '(no output)'),
    ...run('3', 'git push', 'To github.com:bakery/oven.git\n   1111111..2222222  fix-oven -> fix-oven'),
    ...run('4', 'gh pr create --draft --title x', 'https://github.com/bakery/oven/pull/7'),
    ...run(
      '5',
      'git merge main',
      'CONFLICT (content): Merge conflict in oven.ts\nAutomatic merge failed; fix conflicts',
    ),
    said('The merge has a conflict.'),
  ]);
  assert.match(
    state,
    /^Git: branch `fix-oven`; a merge with conflicts was not ended; 1 commit seen, newest first: 2222222 “Heat faster”; pushed; draft https:\/\/github\.com\/bakery\/oven\/pull\/7; no edits seen since$/m,
  );
});

describe('the state of git', () => {
  const gitOf = (...parts: readonly Part[]): string =>
    /^Git: (.*)$/m.exec(stateOf([typed('Oil the door and commit.'), ...parts, said('So it is.')]))?.[1] ?? '';
  const oiled = [
    call('0', 'Edit', { file_path: '/srv/door.ts', old_string: 'dry', new_string: 'oiled' }),
    result('0', 'ok'),
  ] as const;

  test('a commit whose result is missing is told as such', () => {
    assert.equal(
      gitOf(...oiled, call('1', 'Bash', { command: 'git commit -m "Oil it"' })),
      'a commit without a result: “Oil it”; changed, no commit seen: `door.ts`',
    );
  });

  test('a command that committed nothing, or speaks of commits, is none', () => {
    for (const [command, answer] of [
      ['git commit -m "Oil it" || true', 'On branch main\nno changes added to commit (use "git add")'],
      ['grep -rn "git commit" docs', 'docs/a.md:1:run git commit'],
      ['git log --oneline --grep "git commit -m"', 'nothing'],
    ] as const)
      assert.match(gitOf(...oiled, ...run('1', command, answer)), /changed, no commit seen: `door\.ts`$/, command);
  });

  test('a message of several paragraphs is one commit, and other here-documents are none', () => {
    const several = `git commit -q -m "Don't squeak" -m "Because it is oiled."`;
    assert.match(gitOf(...oiled, ...run('1', several, '(no output)')), /^1 commit seen, newest first: “Don't squeak” /);
    const note = `git add -A && git commit -q -m 'Oil it'\ngh pr comment 7 -b "$(cat <<'EOF'\nHeads up, bakers.\nEOF\n)"`;
    assert.match(gitOf(...oiled, ...run('1', note, '(no output)')), /^1 commit seen, newest first: “Oil it” /);
  });

  test('a command for another folder is read like any', () => {
    const git = gitOf(
      ...run(
        '1',
        'git -C /srv/bakery --no-pager commit -m "Heat it" && git -C /srv/bakery push',
        '[main a1b2c3d] Heat it\n   0000001..a1b2c3d  main -> main',
      ),
    );
    assert.match(git, /pushed/);
  });

  test('of several commits, those that came after a push are not pushed, and a rebase gives new hashes', () => {
    const pushed = [
      ...run('1', 'git commit -m "Oil it" && git push', '[main 1a2b3c4] Oil it\n   0000001..1a2b3c4  main -> main'),
      ...run('2', 'git commit -m "Shut it"', '[main 2b3c4d5] Shut it'),
      ...run('3', 'git commit --amend -m "Shut it well"', '[main 3c4d5e6] Shut it well'),
    ];
    assert.match(
      gitOf(...pushed),
      /newest first: 3c4d5e6 “Shut it well” \(amended\), 1a2b3c4 “Oil it”; the newest is not pushed/,
    );
    const rebased = [
      ...run('4', 'git pull --rebase', 'Successfully rebased and updated refs/heads/main.'),
      ...run('5', 'git log --oneline -2', '5e6f7a8 Shut it well\n4d5e6f7 Oil it'),
    ];
    assert.match(gitOf(...pushed, ...rebased), /5e6f7a8 “Shut it well” \(amended\), 4d5e6f7 “Oil it”; no push seen/);
  });

  const oil = run('1', 'git commit -m "Oil it"', '[main 1a2b3c4] Oil it');

  test('only a command that pushes the branch makes its commits pushed', () => {
    for (const command of [
      'echo "then git push"',
      'git push --dry-run',
      'git push --tags',
      'git push origin v1.2.0',
      'git push origin --delete main',
      'git push origin :main',
      'git push origin garden',
    ])
      assert.match(gitOf(...oil, ...run('2', command, 'So it is.')), /; no push seen;/, command);
    for (const command of [
      'git push 2>&1 | tail -3',
      'git push -u origin main',
      'git push origin "HEAD:refs/heads/main"',
      'git push origin "$(git branch --show-current)"',
      'git push --tags && git push',
    ])
      assert.match(gitOf(...oil, ...run('2', command, 'So it is.')), /; pushed;/, command);
    assert.match(gitOf(...run('1', 'git commit -m "Tell of git push"', '[main 1a2b3c4] Tell of git push')), /no push/);
  });

  test('a push leaves commits of another branch alone, unless they were merged or the branch began there', () => {
    const elsewhere = run('3', 'git commit -m "Dig it"', '[garden 2b3c4d5] Dig it');
    const push = run('4', 'git push', '   0000001..2b3c4d5  garden -> garden');
    const away = run('2', 'git checkout garden', "Switched to branch 'garden'");
    assert.match(gitOf(...oil, ...away, ...elsewhere, ...push), /1a2b3c4 “Oil it”; no push seen of 1 of them;/);
    for (const command of ['git checkout -b garden', 'git checkout garden && git merge main'])
      assert.match(gitOf(...oil, ...run('2', command, ''), ...elsewhere, ...push), /; pushed;/, command);
  });

  test('hashes come from the branch of the commit, and a rebase leaves none', () => {
    for (const command of ['git log --oneline origin/main', 'git log --all --oneline', 'git log --oneline -- door.ts'])
      assert.match(gitOf(...oil, ...run('2', command, '7777777 Oil it')), /1a2b3c4 “Oil it”/, command);
    for (const command of ['git log', 'git log --oneline -3 | cat', 'git log --format="%h %s" main..HEAD'])
      assert.match(gitOf(...oil, ...run('2', command, '7777777 Oil it')), /7777777 “Oil it”/, command);
    const again = run('2', 'git commit -m "Oil it"', '[main 2b3c4d5] Oil it');
    assert.match(
      gitOf(...oil, ...again, ...run('3', 'git log --oneline', '2b3c4d5 Oil it\n1a2b3c4 Oil it')),
      /newest first: 2b3c4d5 “Oil it”, 1a2b3c4 “Oil it”/,
    );
    const pull = 'Updating 0000001..9999999\nFast-forward\n   0000001..8888888  main -> main';
    assert.match(
      gitOf(...run('1', 'git commit -q -m "Oil it"', ''), ...run('2', 'git pull && git push', pull)),
      /8888888/,
    );
    const rebased = run('2', 'git rebase garden', 'Successfully rebased and updated refs/heads/main.');
    assert.match(gitOf(...oil, ...rebased), /rebased; 1 commit seen, newest first: “Oil it” \(no hash/);
  });

  test('a pull leaves pushed commits pushed, also if it rebases others', () => {
    const pushed = run('2', 'git push', '   0000001..1a2b3c4  main -> main');
    const next = run('3', 'git commit -m "Shut it"', '[main 2b3c4d5] Shut it');
    const pull = run('4', 'git pull --rebase', 'Successfully rebased and updated refs/heads/main.');
    assert.match(
      gitOf(...oil, ...pushed, ...next, ...pull),
      /newest first: “Shut it”, 1a2b3c4 “Oil it”; the newest is not pushed/,
    );
  });

  test('only what a command amends is marked as amended', () => {
    const forbid = run('2', 'git commit -m "Forbid --amend"', '[main 2b3c4d5] Forbid --amend');
    assert.match(gitOf(...oil, ...forbid), /2 commits seen, newest first: 2b3c4d5 “Forbid --amend”, 1a2b3c4/);
    const both = run(
      '2',
      'git commit -m "Shut it" && git commit --amend --no-edit',
      '[main 2b3c4d5] Shut it\n[main 3c4d5e6] Shut it',
    );
    assert.match(gitOf(...oil, ...both), /newest first: 3c4d5e6 “Shut it” \(amended\), 1a2b3c4 “Oil it”;/);
    const nothing = run('2', 'git commit --amend --no-edit || true', 'Aborting commit due to empty message.');
    assert.match(gitOf(...oil, ...nothing), /1a2b3c4 “Oil it”;/);
    const quiet = run('2', 'git commit -q --amend --no-edit', '');
    assert.match(gitOf(...oil, ...quiet), /1 commit seen, newest first: “Oil it” \(amended\)/);
  });

  test('a commit of another branch is not amended, and a tag or another branch that is pushed says nothing of this one', () => {
    const away = run('2', 'git checkout garden', "Switched to branch 'garden'");
    const amend = run('3', 'git commit --amend -m "Dig it"', '[garden 2b3c4d5] Dig it');
    assert.match(gitOf(...oil, ...away, ...amend), /2 commits seen, newest first: 2b3c4d5 “Dig it”, 1a2b3c4/);
    const switched = gitOf(run('1', 'git switch garden', "Switched to branch 'garden'")[0] ?? {}, ...away);
    assert.match(switched, /branch `garden`/);
    for (const ref of ['main', 'refs/tags/warm'])
      assert.doesNotMatch(gitOf(...away, ...run('3', `git push origin ${ref}`, 'So it is.')), /pushed/, ref);
    const quiet = run('1', 'git commit -q -m "Oil it"', '');
    assert.match(gitOf(...quiet, ...run('2', 'git push origin refs/tags/warm', 'So it is.')), /no push seen/);
  });

  test('an amended commit that is taken back leaves all of its files changed', () => {
    const shut = [
      call('2', 'Edit', { file_path: '/srv/lock.ts', old_string: 'open', new_string: 'shut' }),
      result('2', 'ok'),
    ] as const;
    const amend = run('3', 'git commit -a --amend --no-edit', '[main 2b3c4d5] Oil it');
    assert.match(
      gitOf(...oiled, ...oil, ...shut, ...amend, ...run('4', 'git reset HEAD~1', '')),
      /changed, no commit seen: `door\.ts`, `lock\.ts`$/,
    );
  });

  test('a reset takes back as many commits as it says, and none for a file', () => {
    const all = [...oil, ...run('2', 'git commit -m "Shut it"', '[main 2b3c4d5] Shut it')];
    for (const [to, left] of [
      ['HEAD~0', 2],
      ['HEAD^ -- door.ts', 2],
      ['HEAD^', 1],
      ['--soft HEAD~1 2>&1', 1],
    ] as const)
      assert.match(gitOf(...all, ...run('3', `git reset ${to}`, '')), new RegExp(`${left} commits? seen`), to);
    assert.doesNotMatch(gitOf(...all, ...run('3', 'git reset HEAD^^', '')), /commits? seen,/);
  });

  test('nothing is said of a missing push where the assistant says that it pushed', () => {
    assert.match(gitOf(...oil), /no push seen/);
    assert.doesNotMatch(gitOf(...oil, said('Pushed all of it.')), /push/);
    for (const words of ['Nothing is pushed yet.', 'I haven’t pushed it.'])
      assert.match(gitOf(...oil, said(words)), /no push seen/, words);
  });

  test('a rebase leaves no edits uncommitted, except those that it put aside', () => {
    const ended = 'Successfully rebased and updated refs/heads/main.';
    assert.match(
      gitOf(...oiled, ...run('8', 'git rebase --continue', ended)),
      /^branch `main`; rebased; no push seen$/,
    );
    for (const before of [
      [...oiled, ...run('8', 'git rebase garden', `Created autostash: 1a2b3c4\n${ended}\nApplied autostash.`)],
      [
        ...oiled,
        ...run('7', 'git stash', ''),
        ...run('8', 'git rebase garden', ended),
        ...run('9', 'git stash pop', ''),
      ],
      [
        call('7', 'Write', { file_path: '/srv/door.ts', content: 'new' }),
        result('7', 'ok'),
        ...run('8', 'git pull', ended),
      ],
    ])
      assert.match(gitOf(...before), /changed, no commit seen: `door\.ts`/);
  });

  test('a file that is as it was before is not changed, unless it was committed in between', () => {
    const back = edit('9', 'door.ts', 'open(1);', 'open();');
    const there = edit('8', 'door.ts', 'open();', 'open(1);');
    assert.equal(gitOf(...there, ...back), '');
    assert.match(gitOf(...there, ...oil, ...back), /changed, no commit seen since: `door\.ts`/);
  });

  test('a pull request that was only read has its number', () => {
    for (const command of ['gh pr view 302 --comments', 'gh api repos/bakery/oven/pulls/302/comments'])
      assert.match(gitOf(...oiled, ...run('1', command, 'The door squeaks.')), /^pull request #302; changed/);
  });

  test('a push that was refused is none, and neither is a commit that was taken back', () => {
    const parts = [
      ...oiled,
      ...run('1', 'git commit -m "Oil it"', '[main 1a2b3c4] Oil it'),
      ...run(
        '2',
        'git push 2>&1 | tail -2',
        ' ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs',
      ),
    ];
    assert.match(gitOf(...parts), /1a2b3c4 “Oil it”; no push seen; no edits seen since$/);
    assert.equal(
      gitOf(...parts, ...run('3', 'git reset --soft HEAD~1', '(no output)')),
      'branch `main`; changed, no commit seen: `door.ts`',
    );
  });

  test('files and commits that are checked out are no branches', () => {
    for (const command of ['git checkout Makefile', 'git checkout 1a2b3c4d', 'git checkout HEAD'])
      assert.doesNotMatch(gitOf(...oiled, ...run('1', command, 'Updated 1 path from the index')), /branch/, command);
  });

  test('a command of many kilobytes is read in linear time', () => {
    for (const unit of ['<<a', 'A=;', '\n', '-m "', ' ', '\\"'])
      assertLinear(unit, 50_000, (text) => void gitOf(...run('1', `git commit ${text}~`, '(no output)')));
  });
});
