import { findConfig } from '../../config/find.ts';
import { loadConfig } from '../../config/load.ts';
import { listSettings } from '../../config/origins.ts';
import { resolveSettings } from '../../config/resolve.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { ConfigInvocation } from '../invocation.ts';
import { renderSettings } from '../render/config.ts';
import { reportJson } from '../render/json-lines.ts';
import { safeText } from '../render/safe-text.ts';
import { renderConfigProblem } from '../render/usage.ts';
import type { Stage } from '../session.ts';
import { createVoice } from '../voice.ts';

export async function runConfig({ terminal }: Stage, invocation: ConfigInvocation): Promise<ExitCode> {
  const voice = await createVoice(terminal, invocation.manner);
  const { surroundings } = terminal;
  const { configFlag, flags } = invocation.settings;
  const search = findConfig(surroundings, configFlag);
  if (invocation.action === 'path') {
    if (invocation.manner.json) {
      const { found, looked } = search;
      voice.answerPiece(reportJson({ schema: 'compact/config-path@1', path: found?.path ?? null, looked }));
    } else if (search.found === null) {
      voice.report(['There is no configuration file, and the defaults apply. These were looked for:']);
      voice.report(search.looked.map((path) => `  ${safeText(path)}`));
    } else voice.answer([safeText(search.found.path)]);
    return EXIT_CODES.done;
  }
  const config = await loadConfig(surroundings, configFlag);
  if (!config.ok) {
    for (const problem of config.error) voice.error(renderConfigProblem(problem));
    return EXIT_CODES.usage;
  }
  const settings = resolveSettings({ config: config.value, flags, surroundings });
  const rows = listSettings({ settings, config: config.value, flags, surroundings });
  if (invocation.manner.json) {
    const values = rows.map(({ table, key, value, origin }) => ({ key: `${table}.${key}`, value, origin }));
    voice.answerPiece(reportJson({ schema: 'compact/config@1', path: config.value.file?.path ?? null, values }));
  } else voice.answer(renderSettings(rows, voice.answerTheme));
  return EXIT_CODES.done;
}
