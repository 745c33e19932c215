import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createFigure, createMissingFigure, formatNumber, type Figure } from '../figures.ts';
import type { RowId } from '../rows.ts';
import { type Bench, COMPACT, MB, timeBareLoop } from './bench.ts';

type Peer = {
  readonly row: RowId;
  readonly isThere: boolean;
  readonly reason: string;
  readonly commands: readonly (readonly [string, ...string[]])[];
};

export type PeersOptions = { readonly megabytes: number; readonly installed: string | null };

/** Other programs that read, cut or index the same file of JSON lines. None of them does what `compact` does; they show what is usual. */
export function measurePeers(bench: Bench, { megabytes, installed }: PeersOptions): readonly Figure[] {
  const home = join(bench.folder, 'claude');
  const path = join(home, 'projects/bench/session.jsonl');
  mkdirSync(join(path, '..'), { recursive: true });
  const database = join(bench.folder, 'peer.db');
  bench.input.writeClaudeCode(path, megabytes * MB);
  const bareLoop = timeBareLoop(bench, [path]);
  const group = `Other programs on a Claude Code session of ${formatNumber(megabytes)} MB`;
  const langchain = join(installed ?? '', 'node_modules/@langchain/core');
  const script = join(import.meta.dirname, '../trim-messages.ts');
  const peers: readonly Peer[] = [
    {
      row: 'peer.zstd',
      isThere: isProgram('zstd'),
      reason: 'not installed',
      commands: [['zstd', '-3', '-q', '-f', path, '-o', database]],
    },
    {
      row: 'peer.ccusage',
      isThere: isProgram('ccusage'),
      reason: 'not installed',
      commands: [['ccusage', 'daily', '--offline']],
    },
    { row: 'peer.scan', isThere: true, reason: '', commands: [[process.execPath, COMPACT, 'scan', '-q', path]] },
    {
      row: 'peer.jq',
      isThere: isProgram('jq'),
      reason: 'not installed',
      commands: [['jq', '-c', '-s', '.[-1000:][]', path]],
    },
    {
      row: 'peer.sqlite-utils',
      isThere: isProgram('sqlite-utils'),
      reason: 'not installed',
      commands: [
        ['sqlite-utils', 'insert', database, 'lines', path, '--nl', '--alter'],
        ['sqlite-utils', 'enable-fts', database, 'lines', 'message'],
      ],
    },
    {
      row: 'peer.langchain',
      isThere: installed !== null && existsSync(langchain),
      reason: 'not installed; --peers names the folder that has it',
      commands: [[process.execPath, script, langchain, path]],
    },
  ];
  const figures = peers.map(({ row, isThere, reason, commands }) => {
    if (!isThere) return createMissingFigure(row, group, reason);
    const before = performance.now();
    for (const command of commands) runPeer(command, home);
    const wallMs = performance.now() - before;
    const note = `${formatNumber(statSync(path).size / 1000 / wallMs)} MB/s`;
    return createFigure(row, { group, measured: wallMs / bareLoop.wallMs, wallMs, note });
  });
  for (const one of [home, database]) rmSync(one, { recursive: true, force: true });
  return figures;
}

function isProgram(name: string): boolean {
  return spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0;
}

function runPeer([program, ...args]: readonly [string, ...string[]], claudeHome: string): void {
  const env = { ...process.env, CLAUDE_CONFIG_DIR: claudeHome };
  const { status, stderr } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr.toString()}`);
}
