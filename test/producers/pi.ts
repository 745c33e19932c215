import { copyFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { type Resumed, withFolder } from './resumed.ts';

const PACKAGE = 'pi/node_modules/@mariozechner/pi-coding-agent';

const packageFile = z.object({ version: z.string(), main: z.string() });

const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]),
  toolCallId: z.string().optional(),
});

type Manager = { readonly buildSessionContext: () => { readonly messages: readonly unknown[] } };

/** The part of pi's library that reads a session and turns it into what is sent. */
type Library = {
  readonly SessionManager: { readonly open: (path: string) => Manager };
  readonly convertToLlm: (messages: readonly unknown[]) => readonly unknown[];
};

/** Opens a copy of the file with the pi that is installed under `producersFolder`; no model is asked. */
export async function checkPi(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const root = resolve(producersFolder, PACKAGE);
  const { version, main } = packageFile.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const library: Library = await import(pathToFileURL(join(root, main)).href);
  return withFolder('compact-pi-', async (folder) => {
    const copy = join(folder, 'session.jsonl');
    copyFileSync(compactedFile, copy);
    const history = library.SessionManager.open(copy).buildSessionContext().messages;
    const sent = library.convertToLlm(history).map((one) => message.parse(one));
    return {
      resumed: sent.length > 0,
      summaryFound: isClip(sent[0]),
      messages: sent.length,
      orphans: countOrphans(sent),
      rewritten: !readFileSync(copy).equals(readFileSync(compactedFile)),
      version,
    };
  });
}

type Message = z.infer<typeof message>;

function isClip(first: Message | undefined): boolean {
  const blocks = typeof first?.content === 'string' ? [{ text: first.content }] : (first?.content ?? []);
  return blocks.some(({ text = '' }) => text.includes('<summary>\n[Context Summary — '));
}

function countOrphans(sent: readonly Message[]): number {
  const called = new Set<unknown>();
  let orphans = 0;
  for (const { role, content, toolCallId } of sent) {
    if (role === 'toolResult' && !called.has(toolCallId)) orphans += 1;
    if (typeof content === 'string') continue;
    for (const block of content) if (block.type === 'toolCall') called.add(block['id']);
  }
  return orphans;
}
