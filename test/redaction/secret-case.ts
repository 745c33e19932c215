import { createDraw, type Draw } from './made-up.ts';

/** The kind, a secret of it, and texts in which it stands. `§` is the place of the secret. */
export type SecretCase = readonly [kind: string, make: (draw: Draw) => string, texts: readonly string[]];

export type PlacedSecret = { readonly kind: string; readonly secret: string; readonly text: string };

export type Share = { readonly masked: number; readonly total: number; readonly missed: readonly PlacedSecret[] };

/** Each text of each case with a secret of its own. */
export function placeSecrets(cases: readonly SecretCase[], seed: number): readonly PlacedSecret[] {
  return cases.flatMap(([kind, make, texts], row) =>
    texts.map((template, column) => {
      const secret = make(createDraw(seed + row * 97 + column * 7919));
      return { kind, secret, text: template.replace('§', () => secret) };
    }),
  );
}

/** Counts the secrets of which nothing useful is left: no stretch of half its length, or of 24 characters. */
export function countMasked(secrets: readonly PlacedSecret[], redact: (text: string) => string): Share {
  const missed = secrets.filter(({ secret, text }) => {
    const left = redact(text);
    const chars = Math.min(24, Math.ceil(secret.length / 2));
    return Array.from({ length: secret.length - chars + 1 }, (_, at) => secret.slice(at, at + chars)).some((piece) =>
      left.includes(piece),
    );
  });
  return { masked: secrets.length - missed.length, total: secrets.length, missed };
}
