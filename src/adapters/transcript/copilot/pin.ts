import { idAt, type JsonRecord, stringAt } from '../json.ts';

/** Events about the session as a whole that tell what happened, not what is in force. */
const PASSING = new Set([
  'session.compaction_start',
  'session.compaction_complete',
  'session.truncation',
  'session.snapshot_rewind',
  'session.usage_info',
  'session.error',
  'session.warning',
  'session.info',
  'session.idle',
  'session.shutdown',
]);

/**
 * What an event sets that Copilot reads again when it resumes: model, modes, schedules, the prompt of the system, skills that were invoked, files
 * that later events only name. The latest of each stays. Undefined: nothing.
 */
export function pinOf(type: string, data: JsonRecord): string | undefined {
  switch (type) {
    case 'session.binary_asset':
      return `${type} ${stringAt(data, 'assetId') ?? ''}`;
    case 'session.schedule_created':
    case 'session.schedule_cancelled':
      return `session.schedule ${idAt(data, 'id') ?? ''}`;
    case 'session.schedule_rearmed':
      return `${type} ${idAt(data, 'id') ?? ''}`;
    case 'system.message':
      return `${type} ${stringAt(data, 'role') ?? ''} ${stringAt(data, 'name') ?? ''}`;
    case 'skill.invoked':
      return `${type} ${stringAt(data, 'name') ?? ''}`;
    case 'subagent.selected':
    case 'subagent.deselected':
      return 'subagent.selected';
    default:
      return type.startsWith('session.') && !PASSING.has(type) ? type : undefined;
  }
}
