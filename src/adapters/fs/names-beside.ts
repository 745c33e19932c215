import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * The file that a target was before it was replaced, under another name: up to `fromBytes` its content is in the target, which had `atBytes` then.
 * `inode` is that file's.
 */
export type OldName = {
  readonly path: string;
  readonly fromBytes: number;
  readonly atBytes: number;
  readonly inode: bigint;
};

/** What runs that have ended left. */
type Leftovers = { readonly temporaries: readonly string[]; readonly olds: readonly OldName[] };

/** The hidden names beside a target; two targets of one folder have different ones. */
export type NamesBeside = {
  readonly lock: string;
  readonly temporary: () => string;
  readonly old: (facts: Omit<OldName, 'path'>) => OldName;
  readonly findLeftovers: () => Leftovers;
};

const OLD_FACTS = /^(\d{1,15})-(\d{1,15})-(\d{1,20})\.old$/;

export function nameBeside(target: string): NamesBeside {
  const folder = dirname(target);
  const key = createHash('sha256').update(basename(target)).digest('hex').slice(0, 12);
  const prefix = `.compact-${key}-`;
  return {
    lock: join(folder, `.compact-${key}.lock`),
    temporary: () => join(folder, `${prefix}${crypto.randomUUID().slice(0, 8)}.tmp`),
    old: (facts) => ({
      path: join(folder, `${prefix}${facts.fromBytes}-${facts.atBytes}-${facts.inode}.old`),
      ...facts,
    }),
    findLeftovers: () => {
      const ours = readdirSync(folder).filter((name) => name.startsWith(prefix));
      return {
        temporaries: ours.filter((name) => name.endsWith('.tmp')).map((name) => join(folder, name)),
        olds: ours.flatMap((name) => {
          const [, fromBytes, atBytes, inode = ''] = OLD_FACTS.exec(name.slice(prefix.length)) ?? [];
          return inode === ''
            ? []
            : [
                {
                  path: join(folder, name),
                  fromBytes: Number(fromBytes),
                  atBytes: Number(atBytes),
                  inode: BigInt(inode),
                },
              ];
        }),
      };
    },
  };
}
