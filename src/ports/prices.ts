/** What a model costs per million tokens. */
export type Price = {
  readonly input: number;
  readonly output: number;
  /** The day of the vendors' price list, in US dollars; undefined: the user set the price, in any currency. */
  readonly listedOn?: string;
};

/** The price of a model for a request of so many tokens (long ones may cost more per token); null: unknown. */
export type FindPrice = (model: string, requestTokens: number) => Price | null;
