/**
 * The state that a closed conversation continues with when it is opened again: the fold of its log. A transcript that
 * is too large to be carried whole by a roll-over is referenced in chunks, as its runs named them: chunks that the runs
 * stored are in the blob store, and missing ones are made from the log when they are read (decision 24).
 */
import { apply, applyAll } from '../../core/apply/apply.js';
import { carriedMemory, offloadPlan } from '../../core/context/carry-over.js';
import { chunkIdsIn, withStored } from '../../core/context/offloaded.js';
import type { ConversationState } from '../../core/state/state.js';
import { OFFLOAD_BOUNDS } from '../../protocol/conversation/offloaded-messages.js';
import { MAX_CARRIED_TRANSCRIPT_BYTES } from '../../protocol/limits/limits.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import { chunkIdOf } from './transcript-chunks.js';

/** Undefined when the log is empty. */
export function restoreStateOf(events: readonly CanonicalEvent[]): CarriedState | undefined {
  const plain = applyAll(events);
  if (plain === undefined) return undefined;
  const { state, before } = isLarge(plain) ? storedAsByRuns(events, plain) : carriedWhole(plain);
  const used = chunkIdsIn(state.transcript);
  const unusedChunks = [...before].filter((id) => !used.has(id));
  return {
    ...carriedMemory(state),
    ...(unusedChunks.length === 0 ? {} : { unusedChunks }),
    events: [],
    reopened: true,
  };
}

function isLarge({ transcriptBytes }: ConversationState): boolean {
  return transcriptBytes > MAX_CARRIED_TRANSCRIPT_BYTES;
}

interface Named {
  readonly state: ConversationState;
  /** Ids of the chunks that the last run began with. */
  readonly before: ReadonlySet<string>;
}

function carriedWhole(state: ConversationState): Named {
  return { state, before: new Set() };
}

/** Each run has stored the same messages in the same chunks before it ended, unless its store was down. */
function storedAsByRuns(events: readonly CanonicalEvent[], plain: ConversationState): Named {
  let state: ConversationState | undefined;
  let before: ReadonlySet<string> = new Set();
  for (const event of events) {
    if (event.type === 'log_rewritten') continue;
    if (state !== undefined && isBeginning(event, state)) {
      state = withNames(state);
      before = chunkIdsIn(state.transcript);
    }
    state = apply(state, event);
  }
  return { state: withNames(state ?? plain), before };
}

/** Whether a run begins with the state: after a roll-over, or opened again as it is here. */
function isBeginning(event: CanonicalEvent, state: ConversationState): boolean {
  return event.type === 'conversation_started' ? isLarge(state) : event.type === 'rolled_over';
}

function withNames(state: ConversationState): ConversationState {
  const plan = offloadPlan(state, OFFLOAD_BOUNDS);
  if (plan === undefined) return state;
  let from = 0;
  const ids = plan.chunks.map((count) => {
    from += count;
    return chunkIdOf(plan.messages.slice(from - count, from));
  });
  return withStored(state, { plan, ids });
}
