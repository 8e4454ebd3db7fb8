/**
 * Runs the waiting client calls of one conversation that this page has functions for. Several pages may see a call: the
 * one whose claim is accepted runs it. A page that is closed loses its claim after the lease, and the call is offered
 * again.
 */
import type { PendingView } from '../view/types.js';
import type { ToolRegistry } from './registry.js';
import { type CallPort, runCall } from './run-call.js';
import type { ClientTool, ToolSettings } from './types.js';

const LEASE_MS = 30_000;
const GRACE_MS = 5_000;

type Place =
  /** The call waits for its function to be registered. */
  | { readonly state: 'grace'; readonly timer: Timer }
  /** Nothing more to do for this page. */
  | { readonly state: 'left' }
  /** Another page has the call, and may lose it. `seen`: the view has shown the claim. */
  | { readonly state: 'held'; readonly seen: boolean; readonly timer?: Timer }
  | Busy;

interface Busy {
  readonly state: 'busy';
  readonly over: AbortController;
  claimId?: string;
}

type Timer = ReturnType<typeof setTimeout>;

export class ToolRunner {
  readonly #port: CallPort;
  readonly #registry: ToolRegistry;
  readonly #settings: Required<ToolSettings>;
  readonly #places = new Map<string, Place>();
  readonly #ignoreAdded: () => void;
  #pending: readonly PendingView[] = [];
  #isStopped = false;

  constructor(port: CallPort, registry: ToolRegistry, settings: ToolSettings = {}) {
    this.#port = port;
    this.#registry = registry;
    this.#settings = { leaseMs: LEASE_MS, graceMs: GRACE_MS, ...settings };
    this.#ignoreAdded = registry.onAdd(() => this.look(this.#pending));
  }

  /** Takes the calls that wait now: begins those of this page, and ends those that are over. */
  look(pending: readonly PendingView[]): void {
    if (this.#isStopped) return;
    this.#pending = pending;
    const calls = pending.filter(({ kind }) => kind === 'client_execution');
    const open = new Set(calls.map(({ toolCallId }) => toolCallId));
    for (const [id, place] of this.#places)
      if (!open.has(id)) {
        end(place, 'the call is over');
        this.#places.delete(id);
      }
    for (const call of calls) this.#lookAt(call);
  }

  /** Ends everything that runs here, for good. Other pages may claim the calls once the leases are over. */
  stop(): void {
    this.#isStopped = true;
    this.#ignoreAdded();
    for (const place of this.#places.values()) end(place, 'the page has left the conversation');
    this.#places.clear();
  }

  #lookAt(call: PendingView): void {
    const { toolCallId, claim } = call;
    const place = this.#places.get(toolCallId);
    if (place?.state === 'left') return;
    if (place?.state === 'busy') {
      const isOurs = place.claimId === undefined || place.claimId === claim?.claimId;
      if (claim !== undefined && !isOurs) end(place, 'another page has claimed the call');
      return;
    }
    if (claim !== undefined) this.#put(toolCallId, { state: 'held', seen: true });
    else if (place?.state !== 'held' || place.seen) this.#offer(call, place);
  }

  #offer(call: PendingView, place: Place | undefined): void {
    const tool = this.#registry.find(call.name);
    if (tool !== undefined) this.#begin(call, tool);
    else if (place?.state !== 'grace') {
      const giveUp = (): void => this.#put(call.toolCallId, { state: 'left' });
      const timer = setTimeout(giveUp, this.#settings.graceMs);
      this.#put(call.toolCallId, { state: 'grace', timer });
    }
  }

  #put(toolCallId: string, place: Place): void {
    const before = this.#places.get(toolCallId);
    if (before !== undefined && before.state !== 'busy') end(before, '');
    this.#places.set(toolCallId, place);
  }

  #begin(call: PendingView, tool: ClientTool): void {
    const { toolCallId } = call;
    const busy: Busy = { state: 'busy', over: new AbortController() };
    this.#put(toolCallId, busy);
    const onClaimed = (claimId: string): void => {
      busy.claimId = claimId;
    };
    const { leaseMs } = this.#settings;
    const { over } = busy;
    void runCall(this.#port, { call, tool, leaseMs, over, onClaimed }).then((ended) => {
      // The call is over, and may have come again under the same id.
      if (this.#places.get(toolCallId) !== busy) return;
      if (ended.state === 'left') this.#put(toolCallId, ended);
      else this.#hold(toolCallId, ended.until);
    });
  }

  /** The view shows the claim soon, and its loss. Where it does not, the call is looked at once the lease is over. */
  #hold(toolCallId: string, until: number): void {
    const again = (): void => {
      const call = this.#pending.find((entry) => entry.toolCallId === toolCallId);
      if (call !== undefined && call.claim === undefined) this.#offer(call, undefined);
    };
    const timer = setTimeout(again, Math.max(0, until - Date.now()));
    this.#put(toolCallId, { state: 'held', seen: false, timer });
    const call = this.#pending.find((entry) => entry.toolCallId === toolCallId);
    if (call !== undefined) this.#lookAt(call);
  }
}

function end(place: Place, reason: string): void {
  if (place.state === 'busy') place.over.abort(new Error(reason));
  else if ('timer' in place) clearTimeout(place.timer);
}
