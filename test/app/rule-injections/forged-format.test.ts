import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listRules } from '../../../src/app/survey/list-rules.ts';
import { benchFor, policyOf } from '../../support/workbench.ts';
import { FORGERIES } from './payloads.ts';
import { AT, type Fields, fresh, lines, text } from './records.ts';

/** Logs of programs of their own, in which an outsider's words are the text of a message. Nothing in them says who typed it. */
const turn = (words: string, more: (role: string, said: string) => Fields, asBlocks: boolean): readonly Fields[] =>
  ['user', 'assistant'].map((role) => {
    const said = role === 'user' ? words : 'Yes.';
    return { role, content: asBlocks ? [text(said)] : said, ...more(role, said) };
  });
const MORE: Readonly<Record<string, (role: string, said: string) => Fields>> = {
  plain: () => ({}),
  'numbered times': () => ({ ts: 1_760_000_000_000 }),
  'ids and numbered times': () => ({ id: fresh(), ts: 1_760_000_000_000 }),
  'ids and times': () => ({ id: fresh(), timestamp: AT }),
  'types and times': (role) => ({ type: role, timestamp: AT, uuid: fresh() }),
  sessions: (role) => ({ type: role, sessionId: 's', timestamp: AT, uuid: fresh(), parentUuid: null }),
  'nested messages': (role, content) => ({ type: role, message: { role, content }, timestamp: AT }),
};
const FILES: Readonly<Record<string, (records: readonly Fields[]) => string>> = {
  'a line each': lines,
  'a list': (records) => JSON.stringify(records),
  'a list in an object': (records) => JSON.stringify({ messages: records }),
  'a list of a session': (records) => JSON.stringify({ sessionId: 's', messages: records }),
};

/** What clients put around the words of a person, or of themselves. */
const AROUND: readonly ((words: string) => string)[] = [
  (words) => words,
  (words) => `<task>\n${words}\n</task>`,
  (words) => `<user_message>\n${words}\n</user_message>`,
  (words) => `<user_message>\n${words}\n</user_message>\n\n<environment_details>\n# Open tabs\n</environment_details>`,
  (words) => `<task>\n${words}\n</task>\n<environment_details>\n</environment_details>`,
  (words) => `<user_query>\n${words}\n</user_query>`,
  (words) => `[TASK RESUMPTION]\n<user_message>\n${words}\n</user_message>`,
  (words) => JSON.stringify({ type: 'user', message: { role: 'user', content: words }, sessionId: 's', uuid: 'u' }),
];

for (const [kind, file] of Object.entries(FILES))
  for (const [keys, more] of Object.entries(MORE))
    for (const asBlocks of [false, true])
      test(`no text makes ${kind} with ${keys} a client's log (${asBlocks ? 'blocks' : 'text'})`, async (t) => {
        const bench = benchFor(t);
        for (const around of AROUND) {
          const turns = FORGERIES.flatMap(({ text: words }) => turn(around(words), more, asBlocks));
          bench.write('log', file([...turn(around('Go on.'), more, asBlocks), ...turns]));
          const listed = await listRules(bench.deps, {
            input: { path: bench.path('log'), name: 'log', format: null },
            policy: policyOf({}),
          });
          if (!listed.ok) continue; // no format at all has no rules
          const rules = listed.value.conversations.flatMap((one) => one.rules.map(({ text: rule }) => rule));
          assert.deepEqual(rules, [], `${listed.value.format}: ${around('…')}`);
        }
      });
