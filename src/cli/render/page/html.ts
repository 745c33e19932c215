import { safeText, textLines } from '../text.ts';

/** Markup that may stand in a page as it is. Only the functions of this file make it. */
export type Html = { readonly html: string };

type Part = Html | string | number | null | readonly Html[];

/** A template of markup. Strings between its parts are texts: they are escaped, so that no transcript can add markup. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = strings.map((text, at) => withoutIndent(text) + (at < parts.length ? markup(parts[at] ?? null) : ''));
  return { html: pieces.join('') };
}

function withoutIndent(text: string): string {
  return text.replaceAll(/\n\s+/g, '\n');
}

function markup(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return escape(safeText(part));
  return 'html' in part ? part.html : part.map((one) => one.html).join('');
}

/** A text that keeps its line ends. */
export function multiline(text: string): Html {
  return { html: escape(textLines(text).join('\n')) };
}

/** Our own styles, which are not escaped. An end tag in them would be a bug. */
export function ownCode(code: string): Html {
  if (/<[/!]/.test(code)) throw new Error('code in a page may not contain tags');
  return { html: code };
}

const SCRIPT_END = '</script>';

/** A script, or data in one. The bundler rewrites templates that contain its end tag, so it is written here. */
export function scriptTag(attributes: Html, code: string): Html {
  return { html: `<script${attributes.html}>${ownCode(code).html}${SCRIPT_END}\n` };
}

export const NOTHING: Html = { html: '' };

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => ENTITIES[character] ?? '');
}
