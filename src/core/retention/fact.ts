/** What a summary should not lose: things that cannot be guessed from what stands around them. */
export type FactKind = 'path' | 'url' | 'id' | 'version' | 'number' | 'error' | 'rule';

export type Fact = {
  readonly kind: FactKind;
  /** As it stands in the message. */
  readonly text: string;
  readonly messageId: string;
};

/** A fact with what tells it from others: two that differ in form only have one key. */
export type KeyedFact = Fact & { readonly key: string };
