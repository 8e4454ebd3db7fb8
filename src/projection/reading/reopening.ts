/** Restores the state of a closed conversation, for the run that reopens it. Runs in workers. */
import { droppedAtRollOver, fromCarryOver, toCarryOver } from '../../core/context/carry-over.js';
import { chunkIdsIn } from '../../core/context/offloaded.js';
import { withoutOldest } from '../../core/context/transcript.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { RestoreStateInput } from '../../protocol/workflow/activities.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import type { LiveChannel } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import { completeLog } from '../catch-up/complete-log.js';
import type { WorkflowSource } from '../source/workflow-source.js';
import { restoreStateOf } from './restore-state.js';
import { wholeLog } from './whole-log.js';

/** Bytes of the restored state, which is one payload. The server takes 2 MiB, and the envelope needs the rest. */
export const MAX_RESTORED_BYTES = 1_800_000;

/** The conversation cannot be reopened, however often it is tried. */
export class NotReopenable extends Error {
  readonly code = 'conversation_closed';
  readonly retryable = false;

  constructor(conversationId: string, why: string) {
    super(`Conversation "${conversationId}" cannot be reopened: ${why}`);
    this.name = 'NotReopenable';
  }
}

/**
 * Restores the state of a closed conversation from the event log, which it completes first from the closed run. Safe to
 * repeat.
 * @throws {NotReopenable} when there is no log, or the state besides the transcript is too large
 * @throws {LogIncomplete} when the closed run is known but cannot be read
 * @throws {StoreUnavailable}
 */
export async function restoreState(
  deps: {
    readonly log: EventLog;
    readonly live?: LiveChannel;
    readonly source: WorkflowSource;
  },
  input: RestoreStateInput,
): Promise<CarriedState> {
  const { log, live, source } = deps;
  const { tenant, conversationId, chain, closedRunId } = input;
  const key = { tenant, conversationId };
  if (closedRunId !== undefined) await completeLog({ log, live, source }, key, closedRunId);
  const carried = await restoreStateOf(eventsBefore(wholeLog(log, key), chain));
  if (carried === undefined) throw new NotReopenable(conversationId, 'its log is not in the store');
  return boundedState(conversationId, carried);
}

/** The events of a log up to the start of a chain: a reset of its first run leaves them in the log. */
async function* eventsBefore(
  events: AsyncIterable<CanonicalEvent>,
  chain: string,
): AsyncGenerator<CanonicalEvent> {
  for await (const event of events) {
    if (event.type === 'conversation_started' && event.chain === chain) return;
    yield event;
  }
}

/**
 * Drops the oldest whole turns of a state that is too large, like a roll-over; the log keeps them.
 * @throws {NotReopenable} when the rest is too large
 */
export function boundedState(conversationId: string, carried: CarriedState): CarriedState {
  if (bytesOf(carried) <= MAX_RESTORED_BYTES) return carried;
  const state = fromCarryOver(carried);
  const droppedMessages = droppedAtRollOver(state);
  const left = withoutOldest(state, droppedMessages);
  const named = chunkIdsIn(left.transcript);
  // May be stored, and is unused from now on: the next roll-over removes them.
  const unused = new Set([...(carried.unusedChunks ?? []), ...chunkIdsIn(state.transcript)]);
  const unusedChunks = [...unused].filter((id) => !named.has(id));
  const smaller = {
    ...carried,
    ...toCarryOver(left),
    ...(unusedChunks.length === 0 ? {} : { unusedChunks }),
    droppedMessages,
  };
  if (bytesOf(smaller) <= MAX_RESTORED_BYTES) return smaller;
  const why = `its state besides the transcript is over ${MAX_RESTORED_BYTES} bytes. Begin another one`;
  throw new NotReopenable(conversationId, why);
}

function bytesOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}
