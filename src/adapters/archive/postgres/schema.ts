import { tablesFor } from '../sql/tables.ts';
import { WORDS_SCHEMA } from './words-schema.ts';

const FIRST_SCHEMA = `
${tablesFor('postgres')}
${WORDS_SCHEMA}
-- Compressed data is not compressed again.
ALTER TABLE inserted_lines ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE captured_blocks ALTER COLUMN data SET STORAGE EXTERNAL;
`;

/** Step n leads from version n to n + 1. Never change a released step. */
export const MIGRATIONS: readonly string[] = [FIRST_SCHEMA];
