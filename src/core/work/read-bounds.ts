/** The part of a conversation's state that a worker needs to judge which calls of an answer may run at once. Pure. */

import { MAX_READ_BOUNDS_BYTES } from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { CallModelInput, ReadBounds } from '../../protocol/workflow/activities.js';
import { remembersAllCalls } from '../memory/memory.js';
import { type ConversationState, isSequential } from '../state/state.js';

/** As a field of the activity's input; empty where no call may run inside the activity. */
export function readBoundsOf(state: ConversationState): Pick<CallModelInput, 'reads'> {
  const { turn, settings } = state;
  if (turn === undefined || isSequential(state)) return {};
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

/** Drops the counts of single calls unless repetitions are limited: there are many more of them than of tools. */
function neededOf(
  { byTool, byCall }: NonNullable<ReadBounds['spent']>,
  repeatLimit: number | undefined,
): NonNullable<ReadBounds['spent']> {
  return { byTool, byCall: repeatLimit === undefined ? {} : byCall };
}
