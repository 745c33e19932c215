/** How often to try a property that takes long: `npm test` tries a quarter of the cases but at least 8, and `npm run dev -- properties` all of them. */
export function runsOf(all: number): number {
  return process.env['ALL_RUNS'] === undefined ? Math.max(Math.ceil(all / 4), Math.min(all, 8)) : all;
}
