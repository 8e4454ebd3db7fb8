/** Has old messages stored before a run ends, if the input of the run sets bounds for that (decision 24). */
import { isCancellation } from '@temporalio/workflow';
import { offloadPlan } from '../../core/context/carry-over.js';
import { chunkIdsIn, type OffloadPlan, offloadedEvent } from '../../core/context/offloaded.js';
import { needsOffload } from '../../core/context/request-window.js';
import type { ConversationState } from '../../core/state/state.js';
import { countMessages, wholeMessages } from '../../core/state/transcript.js';
import {
  areChunkIds,
  type OffloadTranscriptInput,
  type UnacknowledgedOffload,
} from '../../protocol/conversation/offloaded-messages.js';
import type { TranscriptOffloaded } from '../../protocol/log/events.js';
import type { ConversationInput } from '../../protocol/workflow/messaging.js';
import { transcriptHash } from '../../protocol/workflow/transcript-delta.js';
import {
  activities,
  OFFLOAD_NEEDED,
  OFFLOAD_TRANSCRIPT,
  summaryOf,
} from '../activities/schedule.js';

/** Bounds the carried orders when the store never answers. */
const MAX_UNACKNOWLEDGED = 8;

const NOTHING: OffloadPlan = { messages: [], chunks: [] };

export class TranscriptOffload {
  readonly #input: ConversationInput;
  /** Every chunk that may be in the store. */
  readonly #known: Set<string>;
  #unacknowledged: readonly UnacknowledgedOffload[];
  #failed = false;
  #isPossible: boolean;

  /** `transcript`: the one with which the run begins. */
  constructor(input: ConversationInput, { transcript }: Pick<ConversationState, 'transcript'>) {
    this.#input = input;
    const { unusedChunks = [], unacknowledged = [] } = input.carried ?? {};
    this.#unacknowledged = unacknowledged;
    this.#isPossible = input.offload !== undefined;
    this.#known = new Set([...chunkIdsIn(transcript), ...unusedChunks]);
  }

  get knownChunks(): ReadonlySet<string> {
    return this.#known;
  }

  /** Orders that may have been carried out without an acknowledgement. */
  get unacknowledged(): readonly UnacknowledgedOffload[] {
    return this.#unacknowledged;
  }

  /**
   * True when the last order is not known to be carried out: messages that cannot be carried over would be lost, and
   * may be stored later.
   */
  get failed(): boolean {
    return this.#failed;
  }

  /** False when there is no blob store, as far as is known: a retry would not help. */
  get possible(): boolean {
    return this.#isPossible;
  }

  /**
   * Starts offloading. Undefined when there is nothing to do. The promise resolves to the event that records the
   * offloaded part of the given state, or to undefined when nothing is known to be stored: then everything is carried
   * over. Rejects only when the workflow is cancelled.
   */
  begin(state: ConversationState): Promise<TranscriptOffloaded | undefined> | undefined {
    const { offload, tenant, conversationId } = this.#input;
    if (offload === undefined) return undefined;
    const plan = offloadPlan(state, offload);
    const used = chunkIdsIn(state.transcript);
    const unused = [...this.#known].filter((id) => !used.has(id));
    const unacknowledged = this.#unacknowledged.flatMap((order) => orderOf(state, order) ?? []);
    if (plan === undefined && unused.length === 0 && unacknowledged.length === 0) return undefined;
    const about = {
      tenant,
      conversationId,
      ...wanted(state, plan ?? NOTHING),
      ...(unused.length === 0 ? {} : { unused }),
      ...(unacknowledged.length === 0 ? {} : { unacknowledged }),
    };
    const storing = this.#store(about, plan, needsOffload(state));
    // The caller awaits this promise later; until then a rejection must not count as unhandled.
    storing.catch(() => undefined);
    return storing;
  }

  /** Keeps the order as unacknowledged: worker and store may have carried it out nevertheless. */
  #noAnswer(plan: OffloadPlan | undefined): void {
    const firstId = plan?.messages[0]?.id;
    if (plan === undefined || firstId === undefined) return;
    this.#unacknowledged = [...this.#unacknowledged, { firstId, chunks: plan.chunks }].slice(
      -MAX_UNACKNOWLEDGED,
    );
  }

  async #store(
    input: OffloadTranscriptInput,
    plan: OffloadPlan | undefined,
    isNeeded: boolean,
  ): Promise<TranscriptOffloaded | undefined> {
    const count = plan?.messages.length ?? 0;
    this.#failed = false;
    const options = {
      ...(isNeeded ? OFFLOAD_NEEDED : OFFLOAD_TRANSCRIPT),
      summary: summaryOf(`${count} messages to be stored`),
    };
    try {
      const { ids } = await activities.offloadTranscript.executeWithOptions(options, [input]);
      this.#isPossible = areChunkIds(ids, input.chunks.length);
      if (!areChunkIds(ids, input.chunks.length)) return undefined;
      // An order whose messages have left the transcript can no longer be resolved.
      this.#unacknowledged = [];
      for (const id of input.unused ?? []) this.#known.delete(id);
      for (const id of ids) this.#known.add(id);
      return plan === undefined ? undefined : offloadedEvent(plan, ids);
    } catch (error) {
      if (isCancellation(error)) throw error;
      this.#failed = plan !== undefined;
      this.#noAnswer(plan);
      return undefined;
    }
  }
}

/** Undefined when the messages of the order are not all in the transcript unchanged. */
function orderOf(
  state: ConversationState,
  { firstId, chunks }: UnacknowledgedOffload,
): Pick<OffloadTranscriptInput, 'messages' | 'chunks'> | undefined {
  const from = state.transcript.findIndex((message) => message.id === firstId);
  const count = chunks.reduce((sum, messages) => sum + messages, 0);
  const messages = from < 0 ? [] : wholeMessages(state.transcript.slice(from, from + count));
  if (messages.length < count) return undefined;
  return wanted(state, { messages, chunks });
}

function wanted(
  { transcript, forgotten = 0 }: ConversationState,
  { messages, chunks }: OffloadPlan,
): Pick<OffloadTranscriptInput, 'messages' | 'chunks'> {
  const [first] = messages;
  const at = first === undefined ? 0 : transcript.findIndex(({ id }) => id === first.id);
  const from = countMessages(transcript.slice(0, at));
  let hash = '';
  for (const message of messages) hash = transcriptHash(hash, JSON.stringify(message));
  return { messages: { epoch: forgotten, from, to: from + messages.length, hash }, chunks };
}
