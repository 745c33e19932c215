import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type AnySchemaObject } from 'ajv';

const ROOT = join(import.meta.dirname, '../../..');

export type Dialect = 'anthropic' | 'openai';

/** Where the schema of each kind of request is kept, and what it was made from. */
export const REQUEST_SCHEMAS = {
  anthropic: {
    sdk: '@anthropic-ai/sdk',
    type: 'AnthropicRequest',
    path: join(ROOT, 'fixtures/model/anthropic/request.schema.json'),
  },
  openai: {
    sdk: 'openai',
    type: 'OpenAiRequest',
    path: join(ROOT, 'fixtures/model/openai-compatible/request.schema.json'),
  },
} as const;

export function installedVersion(name: string): string {
  return readVersion(JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')));
}

function readVersion(manifest: { readonly version: string }): string {
  return manifest.version;
}

export function loadSchema(dialect: Dialect): AnySchemaObject {
  const schema: AnySchemaObject = JSON.parse(readFileSync(REQUEST_SCHEMAS[dialect].path, 'utf8'));
  return schema;
}

/** Says what about a request's body is not as the SDK's types have it; empty: nothing. */
export type CheckBody = (body: unknown) => readonly string[];

/** Compiling a schema takes a tenth of a second: once a process. */
const compiled = new Map<Dialect, CheckBody>();

export function bodyCheck(dialect: Dialect): CheckBody {
  const check = compiled.get(dialect) ?? compileCheck(dialect);
  compiled.set(dialect, check);
  return check;
}

function compileCheck(dialect: Dialect): CheckBody {
  const validate = new Ajv({ strict: false, allErrors: false }).compile(loadSchema(dialect));
  return (body) => {
    if (validate(body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || '/'} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  };
}
