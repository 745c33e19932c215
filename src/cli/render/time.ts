import { safeText } from './safe-text.ts';

/** An ISO time to the minute, in UTC as it is stored: '2026-03-02 09:14'. */
export function formatMinute(iso: string): string {
  const minute = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})/.exec(iso);
  return minute === null ? safeText(iso) : `${minute[1]} ${minute[2]}`;
}
