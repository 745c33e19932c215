import type { Progress } from '../ports/runtime.ts';
import { safeText } from './render/safe-text.ts';
import { clipText } from './render/width.ts';
import type { Channel } from './terminal.ts';

const REDRAW_MS = 100; // faster than this nobody reads, and drawing would cost more than the work

/** One line that is drawn over itself; `channel` null: nothing is drawn. */
export function createProgress(channel: Channel | null): Progress & { readonly name: (transcript: string) => void } {
  const state = { transcript: '', isDrawn: false, drawnAtMs: 0 };
  return {
    name: (transcript) => {
      state.transcript = transcript;
    },
    update: (stage, done, total) => {
      const nowMs = Date.now();
      if (channel === null || nowMs - state.drawnAtMs < REDRAW_MS) return;
      const share = total > 0 ? ` ${Math.floor((100 * Math.min(done, total)) / total)} %` : '';
      const line = `${safeText(state.transcript)}: ${safeText(stage)}${share}`;
      // One column short of the width: a full line would scroll on some terminals.
      channel.write(`\r\u001b[2K${clipText(line, channel.widthColumns - 1)}`);
      state.isDrawn = true;
      state.drawnAtMs = nowMs;
    },
    finish: () => {
      if (channel === null || !state.isDrawn) return;
      channel.write('\r\u001b[2K');
      state.isDrawn = false;
    },
  };
}
