/** "erased by policy on 2026-11-22, receipt 0a1b2c3d4e5f": for messages. */
export function describeErasure({ receipt, at }: { readonly receipt: string; readonly at: Date }): string {
  return `erased by policy on ${at.toISOString().slice(0, 'yyyy-mm-dd'.length)}, receipt ${receipt}`;
}
