import type { CommandName } from '../command-word.ts';
import type { Invocation } from '../invocation.ts';
import type { CommandDefinition } from './definition.ts';

/** Each command is loaded only when it was named; null: the default command. */
export async function loadDefinition(name: CommandName | null): Promise<CommandDefinition<Invocation>> {
  switch (name) {
    case 'score':
      return (await import('./score.ts')).scoreCommand;
    case 'scan':
      return (await import('./scan.ts')).scanCommand;
    case 'restore':
      return (await import('./restore.ts')).restoreCommand;
    case 'verify':
      return (await import('./verify.ts')).verifyCommand;
    case 'search':
      return (await import('./search.ts')).searchCommand;
    case 'show':
      return (await import('./show.ts')).showCommand;
    case 'archive':
      return (await import('./archive.ts')).archiveCommand;
    case 'mcp':
      return (await import('./mcp.ts')).mcpCommand;
    case 'config':
      return (await import('./config.ts')).configCommand;
    case 'schema':
      return (await import('./schema.ts')).schemaCommand;
    default:
      return (await import('./compact.ts')).compactCommand;
  }
}
