import { z } from 'zod';
import { assertNever } from '../core/result.ts';
import { hidePassword, isArchiveUrl } from '../core/paths.ts';
import { parseBytes, parseCount, parseCountOrZero, parseSince } from './quantity.ts';
import { describeForm, type Form, type Setting } from './setting.ts';
import { type ConfigFile, SETTINGS } from './settings.ts';

// Each message completes "KEY …", so that an error can be built from the key, the message and the value found.
const string = z.string('must be a string').min(1, 'must not be empty');
const NOT_NEGATIVE: Form = { kind: 'number', min: 0 };

/** The configuration file: every key is optional, and there are no keys beyond those of `SETTINGS`. */
export const configFileSchema = table({
  ...Object.fromEntries(
    Object.entries<Readonly<Record<string, Setting>>>(SETTINGS).map(([name, keys]) => [
      name,
      table(
        Object.fromEntries(Object.entries(keys).map(([key, { form }]) => [key, toZod(form).optional()])),
      ).optional(),
    ]),
  ),
  prices: z
    .record(string, table({ input: toZod(NOT_NEGATIVE), output: toZod(NOT_NEGATIVE) }), 'must be a table')
    .optional(),
}) as unknown as z.ZodType<ConfigFile>; // built from the same table as the type

function table(shape: z.core.$ZodShape) {
  return z.strictObject(shape, 'must be a table');
}

function toZod(form: Form): z.ZodType {
  const message = `must be ${describeForm(form)}`;
  switch (form.kind) {
    case 'string':
    case 'secret':
    case 'path':
      return string;
    case 'strings':
      return z.array(string, message);
    case 'boolean':
      return z.boolean(message);
    case 'url':
      return z.url({ protocol: /^https?$/, error: message });
    case 'database':
      return z.string(message).refine((value) => isArchiveUrl(value) && hidePassword(value) === value, message);
    case 'age':
      return z.string(message).refine((value) => parseSince(value, 0).ok, message);
    case 'size':
      return z.string(message).refine((value) => parseBytes(value).ok, message);
    case 'choice':
      return z.enum(form.choices, message);
    case 'number': {
      const number = z.number(message).max(form.max ?? Number.POSITIVE_INFINITY, message);
      return form.above === undefined ? number.min(form.min ?? 0, message) : number.gt(form.above, message);
    }
    case 'whole-number': {
      const number = z
        .int(message)
        .min(form.min, message)
        .max(form.max ?? Number.MAX_SAFE_INTEGER, message);
      return z.preprocess((value) => readCount(value, form.min), number);
    }
    default:
      return assertNever(form);
  }
}

/** Accepts a string that is a number as on the command line: "30k". */
function readCount(value: unknown, min: 0 | 1): unknown {
  if (typeof value !== 'string') return value;
  const parsed = (min === 0 ? parseCountOrZero : parseCount)(value);
  return parsed.ok ? parsed.value : value;
}
