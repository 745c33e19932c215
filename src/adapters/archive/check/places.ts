import { finding, type Finding, type Place } from './finding.ts';

/** Watches that what is told of in order is each line of a source exactly once. */
export type PlaceWatch = {
  readonly add: (firstLine: number, lineCount: number) => Iterable<Finding>;
  readonly end: (lineCount: number) => Iterable<Finding>;
};

export function createPlaceWatch(place: Place): PlaceWatch {
  let expected = 1;
  function* add(firstLine: number, lineCount: number): Generator<Finding> {
    if (firstLine > expected)
      yield finding('hole', place, `${nameLines(expected, firstLine - 1)} neither kept nor archived`);
    if (firstLine < expected) yield finding('hole', place, `source line ${firstLine} is there twice`);
    expected = Math.max(expected, firstLine + lineCount);
  }
  function* end(lineCount: number): Generator<Finding> {
    if (expected <= lineCount) yield* add(lineCount + 1, 0);
    else if (expected > lineCount + 1)
      yield finding('wrong-count', place, `${expected - 1} lines are kept or archived of a source of ${lineCount}`);
  }
  return { add, end };
}

function nameLines(first: number, last: number): string {
  return first === last ? `source line ${first} is` : `source lines ${first} to ${last} are`;
}
