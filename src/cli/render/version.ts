import { engineFacts } from '../../compose/engine-facts.ts';
import type { HostEnvironment } from '../../config/find.ts';
import { loadConfig } from '../../config/load.ts';
import { resolveSettings } from '../../config/resolve.ts';
import { hidePassword } from '../../core/paths.ts';
import { renderConfigProblem } from '../../messages/problems.ts';
import { safeText } from '../../messages/text.ts';

/** What a report of a bug needs: versions, the system, and where this run would find its settings and its archive. */
export async function describeProgram(version: string, host: HostEnvironment): Promise<string> {
  const { node, platform, sqlite, vectors, archiveVersion } = await engineFacts();
  const config = await loadConfig(host, { configFlag: null, project: 'as-trusted' });
  const archive = config.ok
    ? hidePassword(resolveSettings({ config: config.value, flags: {}, host }).archive.path)
    : null;
  const settings = config.ok
    ? (config.value.file?.path ?? 'no file')
    : config.error.map(renderConfigProblem).join('; ');
  const rows = {
    compact: version,
    node,
    platform,
    sqlite: `${sqlite}; ${vectors}`,
    archive: `${archive ?? 'unknown, because the configuration is wrong'} (this program writes version ${archiveVersion})`,
    configuration: settings,
  };
  return Object.entries(rows)
    .map(([name, value]) => `${name.padEnd(14)}${safeText(value)}\n`)
    .join('');
}
