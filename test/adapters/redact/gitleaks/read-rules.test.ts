import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGitleaksRules, type ReadRules } from '../../../../src/adapters/redact/gitleaks/read-rules.ts';
import { createRedactor } from '../../../../src/adapters/redact/redactor.ts';
import { indexRules } from '../../../../src/adapters/redact/rule.ts';

function read(toml: string): ReadRules {
  const rules = readGitleaksRules(toml, 'rules.toml');
  assert.ok(rules.ok, JSON.stringify(rules));
  return rules.value;
}

function redact(toml: string, text: string): string {
  return createRedactor(indexRules(read(toml).rules)).redact(text);
}

const BADGE = `[[rules]]
id = "badge"
regex = '''badge-[0-9]{4}'''
`;

test('a rule masks what its regex matches, under its id', () => {
  assert.equal(redact(BADGE, 'my badge-1234.'), 'my [redacted:badge:1].');
});

test('the secret is the group that is named, else the first that took part, else the whole match', () => {
  const rule = (rest: string): string => `[[rules]]\nid = "r"\n${rest}`;
  assert.deepEqual(
    [
      redact(rule("regex = '(user) (pin[0-9]+)'\nsecretGroup = 2"), 'user pin42'),
      redact(rule("regex = '(x)?user (pin[0-9]+)'"), 'user pin42'),
      redact(rule("regex = 'user pin[0-9]+'"), 'user pin42'),
    ],
    ['user [redacted:r:1]', 'user [redacted:r:1]', '[redacted:r:1]'],
  );
});

test('a rule with keywords looks only at text that has one, in any case', () => {
  const toml = `${BADGE}keywords = ["Door"]`;
  assert.deepEqual(
    [redact(toml, 'badge-1234'), redact(toml, 'DOOR badge-1234')],
    ['badge-1234', 'DOOR [redacted:badge:1]'],
  );
});

test('what has no more entropy than the rule wants stays', () => {
  const toml = `[[rules]]\nid = "r"\nregex = 'key ([a-z0-9]{8})'\nentropy = 2.5`;
  assert.deepEqual(
    [redact(toml, 'key aabbaabb'), redact(toml, 'key a1b2c3d4')],
    ['key aabbaabb', 'key [redacted:r:1]'],
  );
});

test('an allowlist of a rule or of all rules lets stay what it names', () => {
  const lists = [
    `[[rules.allowlists]]\nregexes = ['''1234$''']`,
    `[rules.allowlist]\nregexes = ['1234']`,
    `[[rules.allowlists]]\nstopwords = ["BADGE-12"]`,
    `[allowlist]\nregexes = ['1234']`,
    `[[allowlists]]\ntargetRules = ["badge"]\nregexes = ['1234']`,
    `[[rules.allowlists]]\nregexTarget = "line"\nregexes = ['sample']`,
    `[[rules.allowlists]]\ncondition = "AND"\nregexes = ['1234']\nstopwords = ["badge"]`,
  ];
  assert.deepEqual(
    lists.map((list) => redact(`${BADGE}${list}`, 'badge-1234 sample\nbadge-5678')),
    lists.map(() => 'badge-1234 sample\n[redacted:badge:1]'),
  );
});

test('an allowlist with regexTarget match looks at all that the regex matched', () => {
  const toml = `[[rules]]\nid = "r"\nregex = 'test key ([0-9]{4})|key ([0-9]{4})'\n[[rules.allowlists]]\nregexTarget = "match"\nregexes = ['^test']`;
  assert.equal(redact(toml, 'test key 1234, key 5678'), 'test key 1234, key [redacted:r:1]');
});

test('an allowlist whose conditions cannot all be met allows nothing', () => {
  const lists = [
    `[[rules.allowlists]]\ncondition = "AND"\nregexes = ['1234']\npaths = ['x']`,
    `[[rules.allowlists]]\ncondition = "AND"\nstopwords = ["badge"]\nregexes = ['(?=a)']`,
    `[[allowlists]]\ntargetRules = ["other"]\nregexes = ['1234']`,
    `[[rules.allowlists]]\npaths = ['.*']`,
  ];
  assert.deepEqual(
    lists.map((list) => redact(`${BADGE}${list}`, 'badge-1234')),
    lists.map(() => '[redacted:badge:1]'),
  );
});

test('what does nothing here is told, each with its rule', () => {
  const toml = `
colour = "red"
[extend]
useDefault = true
path = "other.toml"
disabledRules = ["x"]
[[allowlists]]
targetRules = ["absent"]
paths = ['x']
[[rules]]
id = "looks"
regex = '(?=a)b'
[[rules]]
id = "files"
path = '\\.p12$'
[[rules]]
id = "nothing"
[[rules]]
id = "group"
regex = '(a)'
secretGroup = 2
[[rules]]
id = "works"
regex = 'ab'
path = 'x'
shade = 1
[[rules.allowlists]]
regexes = ['\\Z']
`;
  const { rules, warnings } = read(toml);
  assert.deepEqual(
    [rules.length, warnings],
    [
      1,
      [
        'the key colour is unknown and has no effect',
        "extend.useDefault has no effect: gitleaks' default rules are always used",
        'extend does not read other.toml: only the rules of this one file are used',
        'extend.disabledRules has no effect, because nothing is extended',
        'the allowlist of all rules: its paths and commits have no effect, because a conversation has none',
        'an allowlist names the rule absent, which is not in the file',
        "rule looks is not used: its regex is not valid in Go's syntax: invalid or unsupported Perl syntax: `(?=`",
        'rule files is not used: it matches paths of files, and a conversation has none',
        'rule nothing is not used: it has no regex',
        'rule group is not used: its secretGroup is 2, and its regex has 1',
        'rule works: the key shade is unknown and has no effect',
        'rule works: its path has no effect, it is used on all text',
        'rule works, allowlist: the regex "\\Z" is left out, it is not valid in Go\'s syntax: invalid escape sequence: `\\Z`',
      ],
    ],
  );
});

for (const [toml, place, problem] of [
  ['[[rules]]\nid = 5', 'rules[1].id', 'must be a string'],
  ['[[rules]]\nid = "a"\n[[rules]]\nid = "b"\nkeywords = "x"', 'rules[2].keywords', 'must be a list of strings'],
  ['[[rules]]\nid = "a"\nentropy = "high"', 'rules[1].entropy', 'must be a number of 0 or more'],
  ['[[rules]]\nid = "a"\nsecretGroup = -1', 'rules[1].secretGroup', 'must be a whole number of 0 or more'],
  ['[allowlist]\nregexTarget = "file"', 'allowlist.regexTarget', 'must be "secret", "match" or "line"'],
  ['rules = 3', 'rules', 'must be a list of tables'],
] as const) {
  test(`a value of the wrong type is an error with its key: ${place}`, () => {
    assert.deepEqual(readGitleaksRules(toml, 'rules.toml'), {
      ok: false,
      error: [{ path: 'rules.toml', place, problem }],
    });
  });
}

test('text that is no TOML is an error with its line', () => {
  const rules = readGitleaksRules('[[rules]]\nid = \n', 'rules.toml');
  assert.equal(rules.ok ? null : rules.error[0]?.place, 'line 2, column 6');
});
