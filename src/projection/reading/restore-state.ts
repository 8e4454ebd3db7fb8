/**
 * The state that a closed conversation continues with when it is reopened: the fold of its log. Where the transcript is
 * larger than a roll-over carries whole, the messages that no run has offloaded are named in chunks, too, and made from
 * the log when they are read (decision 24).
 */
import { apply } from '../../core/apply/apply.js';
import { toCarryOver } from '../../core/context/carry-over.js';
import { chunkIdsIn } from '../../core/context/offloaded.js';
import type { ConversationState } from '../../core/state/state.js';
import { MAX_CARRIED_TRANSCRIPT_BYTES } from '../../protocol/limits/limits.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import { offloadAt } from './transcript-chunks.js';

/** Undefined when the log is empty. */
export async function restoreStateOf(events: Events): Promise<CarriedState | undefined> {
  const { state, before } = await foldOf(events);
  return state === undefined ? undefined : carriedOf(state, before);
}

/** The state to continue with. `before`: the chunks that may be stored beside those that the state names. */
export function carriedOf(
  state: ConversationState,
  before: ReadonlySet<string> = new Set(),
): CarriedState {
  const body = isLarge(state) ? offloadAt(state) : undefined;
  const offloaded = body && { ...body, seq: state.lastSeq + 1, at: state.updatedAt };
  const carried = offloaded === undefined ? state : apply(state, offloaded);
  const used = chunkIdsIn(carried.transcript);
  const unusedChunks = [...before].filter((id) => !used.has(id));
  return {
    ...toCarryOver(carried),
    ...(unusedChunks.length === 0 ? {} : { unusedChunks }),
    events: offloaded === undefined ? [] : [offloaded],
  };
}

function isLarge({ transcriptBytes }: ConversationState): boolean {
  return transcriptBytes > MAX_CARRIED_TRANSCRIPT_BYTES;
}

/** From the first event on. */
type Events = Iterable<CanonicalEvent> | AsyncIterable<CanonicalEvent>;

interface Fold {
  readonly state: ConversationState | undefined;
  /** Ids of the chunks that the last run began with. */
  readonly before: ReadonlySet<string>;
}

async function foldOf(events: Events): Promise<Fold> {
  let state: ConversationState | undefined;
  let before: ReadonlySet<string> = new Set();
  for await (const event of events) {
    state = apply(state, event);
    if (event.type === 'conversation_started' || event.type === 'rolled_over')
      before = chunkIdsIn(state.transcript);
  }
  return { state, before };
}
