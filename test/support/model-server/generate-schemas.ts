import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';
import { installedVersion, REQUEST_SCHEMAS } from './schemas.ts';

/** Writes the JSON Schemas of requests from the types of the installed SDKs: `node test/support/model-server/generate-schemas.ts`. */

for (const { sdk, type, path } of Object.values(REQUEST_SCHEMAS)) {
  const schema = createGenerator({
    path: join(import.meta.dirname, 'request-types.ts'),
    tsconfig: join(import.meta.dirname, '../../tsconfig.json'),
    type,
    skipTypeCheck: true, // by the compiler that the generator brings, which is older than the project's
    jsDoc: 'none',
    additionalProperties: false, // a key that the types do not have is refused
  }).createSchema(type);
  const origin = `${sdk} ${installedVersion(sdk)}`;
  writeFileSync(path, `${JSON.stringify({ $comment: origin, ...schema })}\n`);
  process.stdout.write(`${path}: ${origin}\n`);
}
