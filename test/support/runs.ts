/** How often to try a property that compacts files: `npm test` tries a quarter of the cases, and `npm run properties` all of them. */
export function runsOf(all: number): number {
  return process.env['ALL_RUNS'] === undefined ? Math.ceil(all / 4) : all;
}
