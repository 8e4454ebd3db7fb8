/** Has old messages stored before a run ends, where the conversation was begun with bounds for that (decision 24). */
import { isCancellation } from '@temporalio/workflow';
import { spillPlan } from '../core/context/roll-over.js';
import { chunkIdsIn, type Spilled, type SpillPlan } from '../core/context/stored.js';
import type { ConversationState } from '../core/state.js';
import { transcriptHash } from '../protocol/activities.js';
import type { ConversationInput } from '../protocol/messaging.js';
import { areChunkIds, type SpillTranscriptInput } from '../protocol/stored-messages.js';
import { activities, SPILL_TRANSCRIPT, summaryOf } from './schedule.js';

const NOTHING: SpillPlan = { messages: [], chunks: [] };

export class Spill {
  readonly #input: ConversationInput;
  /** Every chunk that may be in the store. */
  readonly #known: Set<string>;

  constructor(input: ConversationInput) {
    this.#input = input;
    const { chunks = [], unusedChunks = [] } = input.carried ?? {};
    this.#known = new Set([...chunks.map(({ id }) => id), ...unusedChunks]);
  }

  get knownChunks(): ReadonlySet<string> {
    return this.#known;
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
    if (plan === undefined && unused.length === 0) return undefined;
    const about = {
      tenant,
      conversationId,
      ...wanted(state, plan ?? NOTHING),
      ...(unused.length === 0 ? {} : { unused }),
    };
    const storing = this.#store(about, plan);
    // Whoever waits for it hears of it; until then nobody does.
    storing.catch(() => undefined);
    return storing;
  }

  async #store(
    input: SpillTranscriptInput,
    plan: SpillPlan | undefined,
  ): Promise<Spilled | undefined> {
    const count = plan?.messages.length ?? 0;
    const options = { ...SPILL_TRANSCRIPT, summary: summaryOf(`${count} messages to be stored`) };
    try {
      const { ids } = await activities.spillTranscript.executeWithOptions(options, [input]);
      if (!areChunkIds(ids, input.chunks.length)) return undefined;
      for (const id of input.unused ?? []) this.#known.delete(id);
      for (const id of ids) this.#known.add(id);
      return plan === undefined ? undefined : { plan, ids };
    } catch (error) {
      if (isCancellation(error)) throw error;
      return undefined;
    }
  }
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
