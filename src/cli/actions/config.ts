import { findConfig } from '../../config/find.ts';
import { loadConfig, type LoadedConfig } from '../../config/load.ts';
import { listFileSettings, listSettings, type SettingRow } from '../../config/origins.ts';
import { resolveSettings } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { ConfigInvocation } from '../invocation.ts';
import { renderSettings } from '../render/config.ts';
import { reportJson } from '../render/json-lines.ts';
import { safeText } from '../render/safe-text.ts';
import { renderPassedOver, renderRefusal } from '../render/trust.ts';
import { renderConfigProblem } from '../render/usage.ts';
import type { Stage } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { createVoice, type Voice } from '../voice.ts';

/** `config show` and `config path`. */
export async function runConfig({ terminal }: Stage, invocation: ConfigInvocation): Promise<ExitCode> {
  const voice = await createVoice(terminal, invocation.manner);
  if (invocation.action === 'path') return tellPath(voice, { terminal, invocation });
  const config = await loadConfig(terminal.surroundings, invocation.settings);
  if (!config.ok) {
    for (const problem of config.error) voice.error(renderConfigProblem(problem));
    return EXIT_CODES.usage;
  }
  tellSettings(voice, { terminal, invocation, config: config.value });
  return EXIT_CODES.done;
}

type Asked = { readonly terminal: Terminal; readonly invocation: ConfigInvocation };

function tellPath(voice: Voice, { terminal, invocation }: Asked): ExitCode {
  const { found, looked, passedOver } = findConfig(terminal.surroundings, invocation.settings);
  voice.report(renderPassedOver({ passedOver }));
  if (invocation.manner.json) {
    voice.answerPiece(reportJson({ schema: 'compact/config-path@1', path: found?.path ?? null, looked, passedOver }));
  } else if (found === null) {
    voice.report(['There is no configuration file, and the defaults apply. These were looked for:']);
    voice.report(looked.map((path) => `  ${safeText(path)}`));
  } else voice.answer([safeText(found.path)]);
  return EXIT_CODES.done;
}

function tellSettings(voice: Voice, { terminal, invocation, config }: Asked & { readonly config: LoadedConfig }): void {
  const { surroundings } = terminal;
  const { flags } = invocation.settings;
  const { file, passedOver } = config;
  const settings = resolveSettings({ config, flags, surroundings });
  const rows = listSettings({ settings, config, flags, surroundings });
  const refused = file === null ? [] : listFileSettings(file, config.refused);
  voice.report(renderPassedOver(config));
  if (!invocation.manner.json) {
    const comments = refused.length === 0 ? [] : renderRefusal(config, terminal.program()).map((line) => `# ${line}`);
    voice.answer([...comments, ...renderSettings(rows, voice.answerTheme, refused)]);
    return;
  }
  voice.answerPiece(
    reportJson({
      schema: 'compact/config@1',
      path: file?.path ?? null,
      trust: file?.trust ?? null,
      passedOver,
      values: rows.map(toValue),
      refused: refused.map(toValue),
    }),
  );
}

function toValue({ table, key, value, origin }: SettingRow) {
  return { key: `${table}.${key}`, value, origin };
}
