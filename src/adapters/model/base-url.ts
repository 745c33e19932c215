import { err, ok, type Result } from '../../core/result.ts';

/** `url` has no slash at its end; `host` is what messages name, with the port where it is not the usual one. */
export type BaseUrl = { readonly url: string; readonly host: string; readonly hostname: string };

/** An http or https URL without a password, query or fragment in it. The error is a sentence that shows nothing secret. */
export function parseBaseUrl(text: string): Result<BaseUrl, string> {
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return err('base_url is not an http or https URL');
  if (parsed.username !== '' || parsed.password !== '') {
    return err('base_url has a user or a password in it, which cannot be sent: give the key as api_key or api_key_env');
  }
  if (parsed.search !== '' || parsed.hash !== '') {
    return err('base_url has a query or a fragment, and paths are added at its end: leave them out');
  }
  const url = `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
  return ok({ url, host: parsed.host, hostname: parsed.hostname });
}
