/**
 * Runs the waiting client calls of one conversation that this page has functions for. Several pages may see a call: the
 * one whose claim is accepted runs it. A page that is closed loses its claim after the lease, and the call is offered
 * again.
 */
import type { PendingView } from '../view/types.js';
import type { ToolRegistry } from './registry.js';
import { AGAIN_MS, type CallPort, runCall } from './run-call.js';
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
  /** The view has shown the claim. */
  isSeen?: true;
}

type Timer = ReturnType<typeof setTimeout>;

export class ToolRunner {
  readonly #port: CallPort;
  readonly #registry: ToolRegistry;
  readonly #settings: Required<ToolSettings>;
  /** By wait of a call: one that waits again, or for other arguments, has another place. */
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
    const open = new Set(calls.map(waitOf));
    for (const [wait, place] of this.#places)
      if (!open.has(wait)) {
        end(place, 'the call is over');
        this.#places.delete(wait);
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
    const { claim } = call;
    const place = this.#places.get(waitOf(call));
    if (place?.state === 'left') return;
    if (place?.state === 'busy') {
      if (claim === undefined && place.isSeen === true) end(place, 'the claim of the call is lost');
      if (claim === undefined || place.claimId === undefined) return;
      if (place.claimId === claim.claimId) place.isSeen = true;
      else end(place, 'another page has claimed the call');
      return;
    }
    if (claim !== undefined) this.#put(call, { state: 'held', seen: true });
    else if (place?.state !== 'held' || place.seen) this.#offer(call, place);
  }

  #offer(call: PendingView, place: Place | undefined): void {
    const tool = this.#registry.find(call.name);
    if (tool !== undefined) this.#begin(call, tool);
    else if (place?.state !== 'grace') {
      const giveUp = (): void => this.#put(call, { state: 'left' });
      const timer = setTimeout(giveUp, this.#settings.graceMs);
      this.#put(call, { state: 'grace', timer });
    }
  }

  #put(call: PendingView, place: Place): void {
    const wait = waitOf(call);
    const before = this.#places.get(wait);
    if (before !== undefined && before.state !== 'busy') end(before, '');
    this.#places.set(wait, place);
  }

  #begin(call: PendingView, tool: ClientTool): void {
    const busy: Busy = { state: 'busy', over: new AbortController() };
    this.#put(call, busy);
    const onClaimed = (claimId: string): void => {
      busy.claimId = claimId;
      if (this.#shown(call)?.claim?.claimId === claimId) busy.isSeen = true;
    };
    const { leaseMs } = this.#settings;
    const { over } = busy;
    void runCall(this.#port, { call, tool, leaseMs, over, onClaimed }).then((ended) => {
      // The call is over, or the page has left.
      if (this.#places.get(waitOf(call)) !== busy) return;
      if (ended.state === 'left') this.#put(call, ended);
      else this.#hold(call, ended.until);
    });
  }

  /**
   * The view shows the claim soon, and its loss. Where it does not, the call is looked at once the lease is over, and
   * after a pause: a lease that was renewed, or is judged by another clock, ends later than it says.
   */
  #hold(call: PendingView, until: number): void {
    const again = (): void => {
      const shown = this.#shown(call);
      if (shown !== undefined && shown.claim === undefined) this.#offer(shown, undefined);
    };
    const timer = setTimeout(again, Math.max(AGAIN_MS, until - Date.now()));
    this.#put(call, { state: 'held', seen: false, timer });
    const shown = this.#shown(call);
    if (shown !== undefined) this.#lookAt(shown);
  }

  /** The call as the view shows it now. */
  #shown(call: PendingView): PendingView | undefined {
    return this.#pending.find((entry) => waitOf(entry) === waitOf(call));
  }
}

/** A log that was rewritten may have the same call again; an answer that was taken back makes the call wait again. */
function waitOf({ toolCallId, turnId, openedAt, argsDigest, reverted }: PendingView): string {
  return JSON.stringify([toolCallId, turnId, openedAt, argsDigest, reverted?.requestId]);
}

function end(place: Place, reason: string): void {
  if (place.state === 'busy') place.over.abort(new Error(reason));
  else if ('timer' in place) clearTimeout(place.timer);
}
