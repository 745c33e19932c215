/** How often to try a property that compacts files: `npm test` tries a quarter of the cases but at least 12, and `npm run dev -- properties` all of them. */
export function runsOf(all: number): number {
  return process.env['ALL_RUNS'] === undefined ? Math.max(Math.ceil(all / 4), Math.min(all, 12)) : all;
}
