/** Has old messages stored before a run ends, if the input of the run sets bounds for that (decision 24). */
import { isCancellation } from '@temporalio/workflow';
import { spillPlan } from '../../core/context/carry-over.js';
import {
  chunkIdsIn,
  isStored,
  type Spilled,
  type SpillPlan,
} from '../../core/context/offloaded.js';
import { needsRoom } from '../../core/context/request-window.js';
import type { ConversationState } from '../../core/state/state.js';
import {
  areChunkIds,
  type SpillTranscriptInput,
  type UntoldSpill,
} from '../../protocol/conversation/offloaded-messages.js';
import { transcriptHash } from '../../protocol/workflow/activities.js';
import type { ConversationInput } from '../../protocol/workflow/messaging.js';
import {
  activities,
  SPILL_TRANSCRIPT,
  SPILL_WHATEVER_IT_TAKES,
  summaryOf,
} from '../activities/schedule.js';

/** Bounds the carried orders when the store never answers. */
const MAX_UNTOLD = 8;

const NOTHING: SpillPlan = { messages: [], chunks: [] };

export class Spill {
  readonly #input: ConversationInput;
  /** Every chunk that may be in the store. */
  readonly #known: Set<string>;
  #untold: readonly UntoldSpill[];
  #failed = false;
  #isPossible: boolean;

  constructor(input: ConversationInput) {
    this.#input = input;
    const { chunks = [], unusedChunks = [], untold = [] } = input.carried ?? {};
    this.#untold = untold;
    this.#isPossible = input.spill !== undefined;
    this.#known = new Set([...chunks.map(({ id }) => id), ...unusedChunks]);
  }

  get knownChunks(): ReadonlySet<string> {
    return this.#known;
  }

  /** Orders that may have been carried out without an acknowledgement. */
  get untold(): readonly UntoldSpill[] {
    return this.#untold;
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
   * Starts offloading. Undefined when there is nothing to do. The promise resolves to the stored part of the given
   * state, or to undefined when nothing is known to be stored: then everything is carried over. Rejects only when the
   * workflow is cancelled.
   */
  begin(state: ConversationState): Promise<Spilled | undefined> | undefined {
    const { spill, tenant, conversationId } = this.#input;
    if (spill === undefined) return undefined;
    const plan = spillPlan(state, spill);
    const used = chunkIdsIn(state.transcript);
    const unused = [...this.#known].filter((id) => !used.has(id));
    const untold = this.#untold.flatMap((order) => orderOf(state, order) ?? []);
    if (plan === undefined && unused.length === 0 && untold.length === 0) return undefined;
    const about = {
      tenant,
      conversationId,
      ...wanted(state, plan ?? NOTHING),
      ...(unused.length === 0 ? {} : { unused }),
      ...(untold.length === 0 ? {} : { untold }),
    };
    const storing = this.#store(about, plan, needsRoom(state));
    // The caller awaits this promise later; until then a rejection must not count as unhandled.
    storing.catch(() => undefined);
    return storing;
  }

  /** Keeps the order as unacknowledged: worker and store may have carried it out all the same. */
  #noAnswer(plan: SpillPlan | undefined): void {
    const firstId = plan?.messages[0]?.id;
    if (plan === undefined || firstId === undefined) return;
    this.#untold = [...this.#untold, { firstId, chunks: plan.chunks }].slice(-MAX_UNTOLD);
  }

  async #store(
    input: SpillTranscriptInput,
    plan: SpillPlan | undefined,
    isNeeded: boolean,
  ): Promise<Spilled | undefined> {
    const count = plan?.messages.length ?? 0;
    this.#failed = false;
    const options = {
      ...(isNeeded ? SPILL_WHATEVER_IT_TAKES : SPILL_TRANSCRIPT),
      summary: summaryOf(`${count} messages to be stored`),
    };
    try {
      const { ids } = await activities.spillTranscript.executeWithOptions(options, [input]);
      this.#isPossible = areChunkIds(ids, input.chunks.length);
      if (!areChunkIds(ids, input.chunks.length)) return undefined;
      // An order whose messages have left the transcript can no longer be resolved.
      this.#untold = [];
      for (const id of input.unused ?? []) this.#known.delete(id);
      for (const id of ids) this.#known.add(id);
      return plan === undefined ? undefined : { plan, ids };
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
  { firstId, chunks }: UntoldSpill,
): Pick<SpillTranscriptInput, 'messages' | 'chunks'> | undefined {
  const from = state.transcript.findIndex((message) => message.id === firstId);
  const count = chunks.reduce((sum, messages) => sum + messages, 0);
  const messages = from < 0 ? [] : state.transcript.slice(from, from + count);
  if (messages.length < count || messages.some(isStored)) return undefined;
  return wanted(state, { messages, chunks });
}

function wanted(
  { transcript, forgotten = 0 }: ConversationState,
  { messages, chunks }: SpillPlan,
): Pick<SpillTranscriptInput, 'messages' | 'chunks'> {
  const [first] = messages;
  const from = first === undefined ? 0 : transcript.indexOf(first);
  let hash = '';
  for (const message of messages) hash = transcriptHash(hash, JSON.stringify(message));
  return { messages: { epoch: forgotten, from, to: from + messages.length, hash }, chunks };
}
