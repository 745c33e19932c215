import { type Provider, PROVIDERS } from './model-scene.ts';

export type FaultRow = {
  readonly fault: string;
  readonly provider: Provider;
  readonly exit: number | null;
  readonly calls: number;
  readonly isUnchanged: boolean;
  readonly archived: number;
};

/** A line for each fault, a column for each provider, as Markdown. */
export function printFaultTable(rows: readonly FaultRow[]): void {
  const faults = [...new Set(rows.map(({ fault }) => fault))];
  const cell = (fault: string, provider: Provider): string => {
    const row = rows.find((one) => one.fault === fault && one.provider === provider);
    if (row === undefined) return '';
    const rest = row.isUnchanged && row.archived === 0 ? 'unchanged' : 'CHANGED';
    return `exit ${row.exit}, ${row.calls} ${row.calls === 1 ? 'call' : 'calls'}, ${rest}`;
  };
  const lines = faults.map((fault) => [fault, ...PROVIDERS.map((provider) => cell(fault, provider))]);
  const rule = ['', ...PROVIDERS].map(() => '---');
  for (const line of [['fault', ...PROVIDERS], rule, ...lines]) console.log(`| ${line.join(' | ')} |`);
}
