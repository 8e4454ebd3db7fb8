/**
 * Opens a closed conversation again: makes the state that its new run begins with, checked before anything is started.
 */
import { carriedMemory, droppedAtRollOver, stateIn } from '../../core/context/carry-over.js';
import { chunkIdsIn } from '../../core/context/offloaded.js';
import { withoutOldest } from '../../core/context/transcript.js';
import type { ConversationState } from '../../core/state/state.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import { ConversationError } from '../api/errors.js';
import type { ConversationReader } from '../ports/reader.js';
import { allEvents } from '../reading/log-search.js';
import { isUnanswered } from '../temporal/errors.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';

/**
 * Bytes of the restored state. It is part of one payload, of which the server takes 2 MiB; settings and envelope need
 * the rest.
 */
export const MAX_SEED_BYTES = 1_800_000;

interface ReopenParts {
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
}

/**
 * The state to continue with.
 * @throws {ConversationError} agent_mismatch; conversation_closed when there is no log or the rest is too large to carry;
 *   no_worker when only a worker could read the last turns
 */
export async function restoreStateFor(
  parts: ReopenParts,
  key: ConversationKey,
  agent: string,
): Promise<CarriedState> {
  const carried = await readRestoreState(parts, key);
  if (carried === undefined)
    throw new ConversationError(
      'conversation_closed',
      `Conversation "${key.conversationId}" is closed and its log is not in the store, so it cannot be opened again`,
    );
  const owner = isRecord(carried.state) ? carried.state['agent'] : undefined;
  if (typeof owner === 'string' && owner !== agent)
    throw new ConversationError('agent_mismatch', `The conversation belongs to agent "${owner}"`, {
      problems: [{ path: '/agent', message: `must be "${owner}"` }],
    });
  return boundedRestoreState(key, { ...carried, reopened: true });
}

/**
 * Whether the log has a message of the conversation. A run that admitted nothing may leave a log of its start.
 * @throws the errors of the log: a start over a log that cannot be read could lose its content
 */
export async function wasEverAdmitted(
  log: ConversationReader,
  key: ConversationKey,
): Promise<boolean> {
  for await (const event of allEvents(log, key)) if (event.type === 'user_message') return true;
  return false;
}

async function readRestoreState(
  { gateway, reader }: ReopenParts,
  key: ConversationKey,
): Promise<CarriedState | undefined> {
  try {
    return await reader.restoreState(key);
  } catch (error) {
    const cause = gateway.toConversationError(error);
    if (!isUnanswered(cause)) throw cause;
    const text = `Conversation "${key.conversationId}" cannot be opened again yet: its last turns are not in the log, and cannot be read until a worker runs. ${(await gateway.whyUnanswered(key)).text}`;
    throw new ConversationError(cause.code, text, { cause: error });
  }
}

/**
 * Drops the oldest whole turns of a state that is too large, like a roll-over; the log keeps them, and records how
 * many.
 */
function boundedRestoreState(key: ConversationKey, carried: CarriedState): CarriedState {
  if (bytesOf(carried) <= MAX_SEED_BYTES) return carried;
  if (isState(carried.state)) {
    const state = stateIn(carried);
    const droppedMessages = droppedAtRollOver(state);
    const left = withoutOldest(state, droppedMessages);
    const named = chunkIdsIn(left.transcript);
    // May be stored, and is unused from now on: the next roll-over removes them.
    const unused = new Set([...(carried.unusedChunks ?? []), ...chunkIdsIn(state.transcript)]);
    const unusedChunks = [...unused].filter((id) => !named.has(id));
    const smaller = {
      ...carried,
      ...carriedMemory(left),
      ...(unusedChunks.length === 0 ? {} : { unusedChunks }),
      droppedMessages,
    };
    if (bytesOf(smaller) <= MAX_SEED_BYTES) return smaller;
  }
  throw new ConversationError(
    'conversation_closed',
    `Conversation "${key.conversationId}" cannot be opened again: its state besides the transcript is over ${MAX_SEED_BYTES} bytes. Begin another one`,
  );
}

/** Checks only the fields used here: `core` wrote the state, and other code treats it as opaque. */
function isState(value: unknown): value is ConversationState {
  return (
    isRecord(value) &&
    Array.isArray(value['transcript']) &&
    typeof value['transcriptBytes'] === 'number'
  );
}

function bytesOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value));
}
