import { lazily } from '../../core/lazy.ts';

type Method = (...args: readonly never[]) => unknown;
type Several = (...args: readonly never[]) => AsyncIterable<unknown>;

/** Whether a method of a port answers once or several times; a part of the port has methods of its own. */
type Answers<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends Several
    ? 'several'
    : Port[Name] extends Method
      ? 'once'
      : Answers<Port[Name]>;
};

/** A port that is loaded when one of its methods is called for the first time. */
export function onDemand<Port extends object>(load: () => Promise<Port>, answers: Answers<Port>): Port {
  return createPart(lazily(load), answers) as Port; // the same names with values of the same types
}

function createPart(load: () => Promise<object>, answers: object): object {
  const entries = Object.entries(answers).map(([name, answer]: readonly [string, object | string]) => {
    const loadValue = async (): Promise<Record<string, Method>> => Reflect.get(await load(), name);
    if (typeof answer === 'object') return [name, createPart(loadValue, answer)];
    const call = async (args: readonly unknown[]): Promise<{ readonly answer: unknown }> => {
      const port = await load();
      return { answer: Reflect.apply(Reflect.get(port, name), port, args) };
    };
    const several = async function* (...args: readonly unknown[]): AsyncGenerator {
      yield* (await call(args)).answer as AsyncIterable<unknown>;
    };
    return [name, answer === 'several' ? several : async (...args: readonly unknown[]) => (await call(args)).answer];
  });
  return Object.fromEntries(entries);
}
