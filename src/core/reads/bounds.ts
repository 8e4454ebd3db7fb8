/** What of a conversation's state a worker needs to judge which calls of an answer may run at once. Pure. */

import { MAX_READ_BOUNDS_BYTES } from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallModelInput, ReadBounds } from '../../protocol/workflow/activities.js';
import { remembersAllCalls } from '../memory/memory.js';
import type { ConversationState } from '../state/state.js';

/** As a field of the activity's input; nothing where no call may run inside it. */
export function readBoundsOf(state: ConversationState): Pick<CallModelInput, 'reads'> {
  const { turn, settings } = state;
  if (turn === undefined || settings.toolExecution === 'sequential') return {};
  const { coreRevision, budgets, repeatLimit, onToolError, onUnknownTool } = settings;
  const { calls, callsOf } = budgets ?? {};
  const bounds: ReadBounds = {
    coreRevision,
    ...(calls === undefined ? {} : { calls }),
    ...(callsOf === undefined ? {} : { callsOf }),
    ...(repeatLimit === undefined ? {} : { repeatLimit }),
    ...(onToolError === undefined ? {} : { onToolError }),
    ...(onUnknownTool === undefined ? {} : { onUnknownTool }),
    ...(turn.spent === undefined ? {} : { spent: neededOf(turn.spent, repeatLimit) }),
    ...(remembersAllCalls(state) ? {} : { forgetsCalls: true }),
  };
  const isSmall = utf8Bytes(JSON.stringify(bounds)) <= MAX_READ_BOUNDS_BYTES;
  return isSmall ? { reads: bounds } : {};
}

/** Single calls are counted for repetitions only; there are many more of them than tools. */
function neededOf(
  { byTool, byCall }: NonNullable<ReadBounds['spent']>,
  repeatLimit: number | undefined,
): NonNullable<ReadBounds['spent']> {
  return { byTool, byCall: repeatLimit === undefined ? {} : byCall };
}
