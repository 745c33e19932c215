import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Archive, ArchiveFailure } from '../../../src/ports/archive.ts';
import { compactionDraft, lineDraft } from '../../adapters/archive/drafts.ts';
import { stored } from './engine.ts';

/** A database server with an archive in the schema `planted`, which belongs to the user `ann`. */
export type PlantedServer = {
  /** Runs statements as an administrator. */
  readonly execute: (sql: string) => Promise<void>;
  readonly queryTexts: (sql: string) => Promise<readonly string[]>;
  /** Opens the archive as ann. */
  readonly open: () => Promise<Archive | ArchiveFailure>;
  /** What only this server can have. */
  readonly ofServer?: readonly Planting[];
};

export type Planting = {
  readonly what: string;
  /** What ann is told. */
  readonly named: string;
  readonly plant: string;
  readonly uproot: string;
  /** Lets it run; storing and reading a summary does so for most. */
  readonly use?: (archive: Archive) => Promise<unknown>;
};

/**
 * Mallory has a function that notes who runs it, and one that calls it but says that it only calculates. Both are in `public`, like all that is
 * not said to be elsewhere.
 */
export const MALLORY = `
CREATE ROLE mallory; CREATE TABLE public.ran (name text); GRANT ALL ON public.ran TO PUBLIC; GRANT CREATE ON SCHEMA public TO mallory;
SET ROLE mallory;
CREATE FUNCTION public.spy() RETURNS int LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.ran VALUES (current_user); RETURN 1; END';
CREATE FUNCTION public.calculate(text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM public.spy(); RETURN 1; END';
CREATE FUNCTION public.on_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.spy(); RETURN coalesce(NEW, OLD); END';
CREATE FUNCTION public.on_command() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.spy(); END';
RESET ROLE;`;

/** A function of the server that runs any statement. */
const RUNS_TEXT = `ts_rewrite('a', 'SELECT tsquery ''a'', tsquery ''b'' FROM public.spy()')`;
const NO_HOLD = { kind: 'source', value: 'planted' } as const;
const NEAR_COLUMN = 'GENERATED ALWAYS AS (planted.near_vector(text)) STORED';
const REMOVE_COLUMN = 'ALTER TABLE planted.summaries DROP COLUMN extra';

const PLANTINGS: readonly Planting[] = [
  {
    what: 'the trigger of a table',
    named: 'the trigger spy on planted.summaries',
    plant: 'CREATE TRIGGER spy BEFORE INSERT ON planted.summaries FOR EACH ROW EXECUTE FUNCTION public.on_change()',
    uproot: 'DROP TRIGGER spy ON planted.summaries',
  },
  {
    what: 'a rule',
    named: 'the rule spy on planted.holds',
    plant: `
INSERT INTO planted.holds (kind, value, added_at_ms) VALUES ('source', 'planted', 0);
CREATE RULE spy AS ON DELETE TO planted.holds DO ALSO INSERT INTO public.ran VALUES (current_user)`,
    uproot: 'DROP RULE spy ON planted.holds',
    use: (archive) => archive.retention.removeHold(NO_HOLD, new Date(0)),
  },
  {
    what: 'a policy',
    named: 'the policy spy on planted.summaries',
    plant: `
CREATE POLICY spy ON planted.summaries USING (public.spy() = 1);
ALTER TABLE planted.summaries ENABLE ROW LEVEL SECURITY; ALTER TABLE planted.summaries FORCE ROW LEVEL SECURITY`,
    uproot: 'DROP POLICY spy ON planted.summaries; ALTER TABLE planted.summaries DISABLE ROW LEVEL SECURITY',
  },
  {
    what: 'a view in the place of a table',
    named: 'the view planted.summaries',
    plant: `
INSERT INTO planted.summaries VALUES (sha256(''), 'p', 'm', 'old', 0, 0, 0, 0); ALTER TABLE planted.summaries RENAME TO others; CREATE VIEW planted.summaries AS SELECT * FROM planted.others WHERE public.spy() = 1;
GRANT ALL ON planted.summaries TO ann`,
    uproot: 'DROP VIEW planted.summaries; ALTER TABLE planted.others RENAME TO summaries',
    use: findSummary,
  },
  {
    what: 'a table elsewhere that inherits one of ours',
    named: 'the table public.child',
    plant: `
CREATE TABLE public.child () INHERITS (planted.holds); INSERT INTO public.child (id, kind, value, added_at_ms) VALUES (0, 'source', 'planted', 0);
CREATE TRIGGER spy BEFORE DELETE ON public.child FOR EACH ROW EXECUTE FUNCTION public.on_change()`,
    uproot: 'DROP TABLE public.child',
    use: (archive) => archive.retention.removeHold(NO_HOLD, new Date(0)),
  },
  {
    what: 'the default of a column',
    named: 'the default value for planted.summaries.extra',
    plant: 'ALTER TABLE planted.summaries ADD COLUMN extra int DEFAULT public.spy()',
    uproot: REMOVE_COLUMN,
  },
  {
    what: 'a default that only calls a function of the server',
    named: 'the default value for planted.summaries.extra',
    plant: `ALTER TABLE planted.summaries ADD COLUMN extra tsquery DEFAULT ${RUNS_TEXT}`,
    uproot: REMOVE_COLUMN,
  },
  {
    what: 'a generated column',
    named: 'the default value for planted.summaries.extra',
    plant: 'ALTER TABLE planted.summaries ADD COLUMN extra int GENERATED ALWAYS AS (public.calculate(text)) STORED',
    uproot: REMOVE_COLUMN,
  },
  {
    what: 'a check',
    named: 'the table constraint spy on planted.summaries',
    plant: 'ALTER TABLE planted.summaries ADD CONSTRAINT spy CHECK (public.spy() = 1)',
    uproot: 'ALTER TABLE planted.summaries DROP CONSTRAINT spy',
  },
  {
    what: 'a check that only calls a function of the server',
    named: 'the table constraint spy on planted.summaries',
    plant: `ALTER TABLE planted.summaries ADD CONSTRAINT spy CHECK (${RUNS_TEXT} IS NOT NULL)`,
    uproot: 'ALTER TABLE planted.summaries DROP CONSTRAINT spy',
  },
  {
    what: 'an index of what a function gives',
    named: 'the index planted.spy',
    plant: 'CREATE INDEX spy ON planted.summaries (public.calculate(text))',
    uproot: 'DROP INDEX planted.spy',
  },
  {
    what: 'an index of some rows',
    named: 'the index planted.spy',
    plant: 'CREATE INDEX spy ON planted.summaries (model) WHERE public.calculate(text) = 1',
    uproot: 'DROP INDEX planted.spy',
  },
  {
    what: 'an index with an order of its own',
    named: 'the index planted.spy',
    plant: `
CREATE FUNCTION public.compare(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT public.calculate($1)';
CREATE OPERATOR CLASS public.spy FOR TYPE text USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 public.compare(text, text);
INSERT INTO planted.summaries VALUES (sha256('other'), 'p', 'm', 'other', 0, 0, 0, 0); CREATE INDEX spy ON planted.summaries (text public.spy); TRUNCATE public.ran`,
    uproot: 'DROP INDEX planted.spy; DROP OPERATOR FAMILY public.spy USING btree; DROP FUNCTION public.compare',
  },
  {
    what: 'a type that is checked',
    named: 'the type planted.checked',
    plant: `
CREATE DOMAIN planted.checked AS text CHECK (public.spy() = 1); GRANT USAGE ON TYPE planted.checked TO ann;
ALTER TABLE planted.summaries ALTER COLUMN model TYPE planted.checked`,
    uproot: 'ALTER TABLE planted.summaries ALTER COLUMN model TYPE text; DROP DOMAIN planted.checked',
  },
  {
    what: 'a type elsewhere that is checked',
    named: 'the table planted.summaries',
    plant: `
CREATE DOMAIN public.checked AS text CHECK (public.spy() = 1); ALTER TABLE planted.summaries ALTER COLUMN model TYPE public.checked`,
    uproot: 'ALTER TABLE planted.summaries ALTER COLUMN model TYPE text; DROP DOMAIN public.checked',
  },
  {
    what: "a function that fits better than the server's",
    named: 'the function planted.pg_total_relation_size(pg_catalog.oid)',
    plant: `CREATE FUNCTION planted.pg_total_relation_size(oid) RETURNS bigint LANGUAGE sql AS 'SELECT public.spy()::bigint'`,
    uproot: 'DROP FUNCTION planted.pg_total_relation_size(oid)',
    use: (archive) => archive.usedBytes(),
  },
  {
    what: "an operator that fits better than the server's",
    named: 'the operator planted.=(pg_catalog.oid,pg_catalog.regnamespace)',
    plant: `
CREATE FUNCTION public.same(oid, regnamespace) RETURNS boolean LANGUAGE sql AS 'SELECT public.spy() = 1';
CREATE OPERATOR planted.= (LEFTARG = oid, RIGHTARG = regnamespace, FUNCTION = public.same)`,
    uproot: 'DROP OPERATOR planted.= (oid, regnamespace); DROP FUNCTION public.same',
    use: (archive) => archive.usedBytes(),
  },
  ...[
    { body: "LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM public.spy(); RETURN 1; END'", column: NEAR_COLUMN },
    { body: `LANGUAGE sql IMMUTABLE RETURN numnode(${RUNS_TEXT})`, column: NEAR_COLUMN },
    {
      body: 'LANGUAGE sql BEGIN ATOMIC INSERT INTO public.ran VALUES (current_user); SELECT 1; END',
      column: "DEFAULT planted.near_vector('')",
    },
  ].map(({ body, column }) => ({
    what: `a function with the name of ours: ${body}`,
    named: 'the function planted.near_vector(pg_catalog.text)',
    plant: `
SET ROLE ann; CREATE FUNCTION planted.near_vector(text) RETURNS int ${body}; RESET ROLE;
ALTER TABLE planted.summaries ADD COLUMN extra int ${column}; DELETE FROM public.ran`,
    uproot: `${REMOVE_COLUMN}; DROP FUNCTION planted.near_vector`,
  })),
  {
    what: 'another function in the place of the one that adds a month',
    named: 'the function planted.add_month(pg_catalog.date)',
    plant: `
ALTER FUNCTION planted.add_month(date) SET SCHEMA public; SET ROLE ann;
CREATE FUNCTION planted.add_month(date) RETURNS int SECURITY DEFINER LANGUAGE plpgsql AS 'BEGIN PERFORM public.spy(); RETURN 1; END'; RESET ROLE`,
    uproot: 'DROP FUNCTION planted.add_month; ALTER FUNCTION public.add_month(date) SET SCHEMA planted',
    use: (archive) => assert.rejects(stored(archive, compactionDraft(1), [lineDraft(1)]), /no partition/),
  },
  {
    what: 'an event trigger with a function of an ordinary user',
    named: 'the event trigger spy',
    plant: 'CREATE EVENT TRIGGER spy ON ddl_command_end EXECUTE FUNCTION public.on_command()',
    uproot: 'DROP EVENT TRIGGER spy',
    // It makes the partitions of this month.
    use: (archive) => stored(archive, compactionDraft(1), [lineDraft(1)]),
  },
];

/** Of nothing. */
export async function findSummary({ summaries }: Archive): Promise<unknown> {
  return summaries.find(createHash('sha256').digest('hex'));
}

async function keepSummary({ summaries }: Archive): Promise<void> {
  const usage = { input_tokens: 0, output_tokens: 0 };
  await summaries.keep('ab'.repeat(32), { provider: 'p', model: 'm', text: 'new', usage, createdAt: new Date(0) });
}

/** What others plant into a schema runs as whoever uses the archive, and so it is refused when the archive is opened. */
export function plantingContract({ execute, queryTexts, open, ofServer = [] }: PlantedServer): void {
  const opened = async (): Promise<Archive> => {
    const archive = await open();
    assert.ok('summaries' in archive, JSON.stringify(archive));
    return archive;
  };
  const takeRan = async (): Promise<readonly string[]> => {
    const names = await queryTexts('SELECT DISTINCT name FROM public.ran');
    await execute('DELETE FROM public.ran');
    return names;
  };
  for (const { what, named, plant, uproot, use = keepSummary } of [...PLANTINGS, ...ofServer]) {
    test(`${what} would run as whoever uses the archive, so it is refused`, async (t) => {
      const archive = await opened();
      t.after(archive.close);
      await execute(plant);
      try {
        await use(archive);
        assert.deepEqual(await takeRan(), ['ann']);
        const refusal = await open();
        assert.deepEqual(await takeRan(), []);
        assert.ok('kind' in refusal && refusal.kind === 'cannot-open', JSON.stringify(refusal));
        assert.equal(refusal.reason, `compact did not make ${named}, which could run in it`);
        assert.match(refusal.advice ?? '', /remove it/);
      } finally {
        await execute(`${uproot}; DELETE FROM planted.summaries; DELETE FROM public.ran`);
      }
      await (await opened()).close();
    });
  }

  test("an event trigger of the server's administrators locks nobody out but superusers", async () => {
    await execute(`
CREATE FUNCTION public.watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION public.watch()`);
    await (await opened()).close();
    await execute('ALTER ROLE ann SUPERUSER');
    const refusal = await open();
    await execute('ALTER ROLE ann NOSUPERUSER; DROP EVENT TRIGGER watch; DROP FUNCTION public.watch');
    assert.ok('kind' in refusal && refusal.kind === 'cannot-open', JSON.stringify(refusal));
    assert.equal(refusal.reason, 'compact did not make the event trigger watch, which could run in it');
    assert.match(refusal.advice ?? '', /connect as a user who is no superuser/);
  });
}
