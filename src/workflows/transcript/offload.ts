/** Has old messages stored before a run ends, where the input of the run has bounds for that (decision 24). */
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

/** A store that never answers must not fill what is carried. */
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

  /** Orders that may have been carried out without an answer. */
  get untold(): readonly UntoldSpill[] {
    return this.#untold;
  }

  /** The last order was not carried out, as far as is known: what cannot be carried would be lost, and may be stored later. */
  get failed(): boolean {
    return this.#failed;
  }

  /** False where there is no blob store, as far as is known: then it is no use to try again. */
  get possible(): boolean {
    return this.#isPossible;
  }

  /**
   * Undefined when there is nothing to do. The promise gives what was stored, of the state as it was given; undefined when
   * nothing was, or nothing is known of it: then everything is carried. Rejects only when the workflow is cancelled.
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
    // Whoever waits for it hears of it; until then nobody does.
    storing.catch(() => undefined);
    return storing;
  }

  /** Worker and store may have done it all the same. */
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
      // Of an order whose messages have left the transcript nothing can be found any more.
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

/** Undefined when its messages are not all there as they were. */
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
