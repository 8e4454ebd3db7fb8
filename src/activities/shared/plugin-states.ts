/**
 * The states of plugins for a run of code: those that this worker remembers, with the patches that were sent along. It
 * asks the run for the rest, and gets the states of now, which may be newer than those of the step's begin.
 */
import { LRUCache } from 'lru-cache';
import { statesAfter } from '../../core/plugins/states.js';
import type { PluginStates, StatesNow, StatesRef } from '../../protocol/calls/plugin-state.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import { type RunOfConversation, singleFlight } from './transcripts.js';

/** Queries a run. Only requests for the same `hash` are shared. @throws when no worker answers in time */
export type FetchStates = (run: RunOfConversation, hash: string) => Promise<StatesNow>;

export class RememberedStates {
  readonly #fetch: FetchStates;
  readonly #known: LRUCache<string, PluginStates>;

  constructor({ fetch, maxBytes }: { readonly fetch: FetchStates; readonly maxBytes: number }) {
    this.#fetch = singleFlight(fetch);
    this.#known = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (states) => Math.max(1, utf8Bytes(JSON.stringify(states))),
    });
  }

  /** @throws when neither this worker nor the run has them */
  async statesOf(run: RunOfConversation, ref: StatesRef | undefined): Promise<PluginStates> {
    if (ref === undefined) return {};
    const known = this.#get(run, ref.hash) ?? this.#after(run, ref);
    if (known !== undefined) return known;
    const { hash, states } = await this.#fetch(run, ref.hash);
    this.#set(run, hash, states);
    return states;
  }

  #after(run: RunOfConversation, { hash, base, recent }: StatesRef): PluginStates | undefined {
    const before = base === '' ? {} : this.#get(run, base);
    const states = before === undefined ? undefined : statesAfter(before, recent);
    if (states !== undefined) this.#set(run, hash, states);
    return states;
  }

  /** A hash names the same states in all runs of a conversation. */
  #get({ workflowId }: RunOfConversation, hash: string): PluginStates | undefined {
    return this.#known.get(`${workflowId} ${hash}`);
  }

  #set({ workflowId }: RunOfConversation, hash: string, states: PluginStates): void {
    this.#known.set(`${workflowId} ${hash}`, states);
  }
}
