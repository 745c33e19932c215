import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isClipArchiveText } from '../../src/core/split.ts';
import { type Resumed, versionIn, withFolder } from './resumed.ts';

type Part = {
  readonly text?: string;
  readonly functionCall?: { readonly id?: string };
  readonly functionResponse?: { readonly id?: string };
};
type Turn = { readonly id: string; readonly content: { readonly role?: string; readonly parts?: readonly Part[] } };
type Conversation = { readonly sessionId: string; readonly messages: readonly { readonly id: string }[] };
type ResumedChat = { readonly conversation: Conversation; readonly filePath: string };

type Chat = {
  readonly initialize: (resumed: ResumedChat, kind: 'main') => Promise<void>;
  readonly getHistoryTurns: (curated: boolean) => readonly Turn[];
};

type GeminiCore = {
  readonly loadConversationRecord: (path: string) => Promise<Conversation | null>;
  readonly convertSessionToClientHistory: (messages: Conversation['messages']) => readonly Turn[];
  readonly deriveStableId: (parts: readonly string[]) => string;
  readonly GeminiChat: new (
    context: object,
    instruction: string,
    tools: readonly object[],
    history: readonly Turn[],
    resumed: ResumedChat,
  ) => Chat;
};

/**
 * Resumes a copy of a compacted session with the Gemini CLI that is installed in a folder (`gemini/node_modules/@google/gemini-cli-core`), as the
 * program does: its record is loaded, turned into the history, and put into a new chat, which notes that history in the file.
 */
export async function checkGemini(compactedFile: string, producersFolder: string): Promise<Resumed> {
  const root = join(producersFolder, 'gemini/node_modules/@google/gemini-cli-core');
  const version = versionIn(root);
  const core = await loadCore(join(root, 'dist/src'));
  return withFolder('compact-gemini-', async (folder) => {
    const filePath = join(folder, 'session.jsonl');
    cpSync(compactedFile, filePath);
    const conversation = await core.loadConversationRecord(filePath);
    if (conversation === null) {
      return { resumed: false, summaryFound: false, messages: 0, orphans: 0, rewritten: false, version };
    }
    const turns = await resume(core, { conversation, filePath }, folder);
    const before = readFileSync(compactedFile);
    const after = readFileSync(filePath);
    return {
      resumed: true,
      summaryFound: turns.some(({ content }) => content.parts?.some(({ text = '' }) => isClipArchiveText(text))),
      messages: turns.length,
      orphans: countOrphans(turns),
      rewritten: !after.subarray(0, before.length).equals(before),
      version,
    };
  });
}

async function loadCore(dist: string): Promise<GeminiCore> {
  const load = async (file: string): Promise<object> => import(pathToFileURL(join(dist, file)).href);
  const modules = await Promise.all(
    ['services/chatRecordingService.js', 'utils/sessionUtils.js', 'utils/cryptoUtils.js', 'core/geminiChat.js'].map(
      load,
    ),
  );
  return Object.assign({}, ...modules);
}

async function resume(core: GeminiCore, resumed: ResumedChat, folder: string): Promise<readonly Turn[]> {
  const surroundings = {
    id: core.deriveStableId(['environment-context']),
    content: { role: 'user', parts: [{ text: '<session_context>\na folder\n</session_context>' }] },
  };
  const history = [surroundings, ...core.convertSessionToClientHistory(resumed.conversation.messages)];
  const chat = new core.GeminiChat(createContext(folder), '', [], history, resumed);
  await chat.initialize(resumed, 'main');
  return chat.getHistoryTurns(true);
}

/** What a chat asks of the program around it before anything is sent. */
function createContext(folder: string): object {
  const config = {
    getProjectRoot: () => folder,
    getModel: () => 'gemini-2.5-pro',
    isContextManagementEnabled: () => false,
    storage: { getProjectTempDir: () => folder },
  };
  return { config, promptId: 'check', toolRegistry: { getTool: () => undefined } };
}

function countOrphans(turns: readonly Turn[]): number {
  const idsIn = (turn: Turn | undefined, key: 'functionCall' | 'functionResponse'): readonly string[] =>
    (turn?.content.parts ?? []).flatMap((part) => part[key]?.id ?? []);
  return turns.reduce((sum, turn, at) => {
    const results = new Set(idsIn(turns[at + 1], 'functionResponse'));
    const calls = new Set(idsIn(turns[at - 1], 'functionCall'));
    const unanswered = idsIn(turn, 'functionCall').filter((id) => !results.has(id));
    const uncalled = idsIn(turn, 'functionResponse').filter((id) => !calls.has(id));
    return sum + unanswered.length + uncalled.length;
  }, 0);
}
