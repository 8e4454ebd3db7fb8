/**
 * Offers of waiting calls: the difference between the calls that wait now and those that a watcher has been shown. No
 * offer is kept as an event, so a watcher that was away, or is slow, learns what holds now and nothing of what is over.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { OfferFrame, OfferReader, OffersOf, OffersPage } from '../../client/ports/reader.js';
import type { OfferGone, ToolOffer } from '../../protocol/calls/claims.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { conversationKey, formatRef } from '../../protocol/values/ids.js';
import type { EventLog } from '../../store/ports/log.js';
import type { OpenCall, OpenCallsRead } from '../../store/ports/open-calls.js';
import { SharedReads, type SharedReadsParts } from './shared-reads.js';

/** A watcher has this many offers at most; others follow when some are over. */
const MAX_OFFERS = 1_000;
/** Characters of inputs and ids that are kept for other watchers. */
const MAX_KEPT_CHARS = 4_000_000;
/** Reasons of so many offers that are over are kept. */
const MAX_GONE = 10_000;
const KINDS = { client: 'client_execution', external: 'external_execution' } as const;

type Log = Pick<EventLog, 'head' | 'unclaimedCalls'>;

export function createOfferReader({
  log,
  ...parts
}: { readonly log: Log } & SharedReadsParts): OfferReader {
  return new StoredOffers(log, new SharedReads(parts));
}

class StoredOffers implements OfferReader {
  readonly #log: Log;
  /** One read for all watchers with the same filters and the same actor, whose calls differ. */
  readonly #reads: SharedReads<readonly OpenCall[]>;
  /** By state of the call; `none` if it cannot be offered. */
  readonly #offers = new LRUCache<string, ToolOffer | 'none'>({
    maxSize: MAX_KEPT_CHARS,
    sizeCalculation: (offer, name) => name.length + JSON.stringify(offer).length,
  });
  /** By state of the call as it was offered: why it is no longer. */
  readonly #gone = new LRUCache<string, OfferGone['why']>({ max: MAX_GONE });
  /** Heads that are being read, by the state of the call for which they are. */
  readonly #heads = new Map<string, Promise<ConversationSnapshot | undefined>>();

  constructor(log: Log, reads: SharedReads<readonly OpenCall[]>) {
    this.#log = log;
    this.#reads = reads;
  }

  async offers(of: OffersOf, limit: number): Promise<OffersPage> {
    const calls = await this.#log.unclaimedCalls(queryOf(of, limit + 1));
    const offers: ToolOffer[] = [];
    for (const call of calls.slice(0, limit)) {
      const offer = await this.#offerOf(call);
      if (offer !== undefined) offers.push(offer);
    }
    return { offers, more: calls.length > limit };
  }

  async *watchOffers(
    of: OffersOf,
    { signal, after }: { readonly signal: AbortSignal; readonly after?: string },
  ): AsyncGenerator<OfferFrame, void, undefined> {
    const query = queryOf(of, MAX_OFFERS);
    const shared = {
      tenant: of.tenant,
      name: JSON.stringify(query),
      read: () => this.#log.unclaimedCalls(query),
      isSame: areSame,
    };
    const shown = new ShownCalls();
    let isFirst = true;
    for await (const calls of this.#reads.watch(shared, signal)) {
      if (isFirst && after !== undefined) {
        const known = new ShownCalls();
        for (const call of calls) known.put(call, (await this.#offerOf(call)) !== undefined);
        if (known.id === after) shown.take(known);
        else yield { type: 'reset', id: shown.id };
      }
      isFirst = false;
      yield* this.#changes(shown, calls);
    }
  }

  /** Those that are over first, so that a watcher never has more than it may. */
  async *#changes(
    shown: ShownCalls,
    calls: readonly OpenCall[],
  ): AsyncGenerator<OfferFrame, void, undefined> {
    const names = new Set(calls.map(callNameOf));
    for (const { call, isOffered } of shown.all()) {
      if (names.has(callNameOf(call))) continue;
      shown.remove(call);
      if (isOffered) yield { type: 'gone', id: shown.id, gone: await this.#goneOf(call) };
    }
    for (const call of calls) {
      const before = shown.get(call);
      if (before !== undefined && nameOf(before.call) === nameOf(call)) continue;
      const offer = await this.#offerOf(call);
      shown.put(call, offer !== undefined);
      // An offer of a call replaces the one before.
      if (offer !== undefined) yield { type: 'offer', id: shown.id, offer };
      else if (before?.isOffered === true)
        yield { type: 'gone', id: shown.id, gone: await this.#goneOf(call) };
    }
  }

  async #goneOf(call: OpenCall): Promise<OfferGone> {
    const { tenant, conversationId, toolCallId, tool } = call;
    const ref = formatRef({ tenant, conversationId, toolCallId });
    const name = nameOf(call);
    let why = this.#gone.get(name);
    if (why === undefined) {
      const waiting = waitingIn(await this.#snapshotFor(`gone ${name}`, call), toolCallId);
      why = waiting?.claim === undefined ? 'ended' : 'claimed';
      // A call that waits unclaimed may be offered again in the same state, and be over for another reason.
      if (waiting === undefined || why === 'claimed') this.#gone.set(name, why);
    }
    return { ref, conversationId, toolCallId, tool, why };
  }

  /**
   * One read for all who ask under the name while it runs. The name has the state of the call, which its readers have
   * seen before, so the read shows this state or a later one.
   */
  async #snapshotFor(name: string, call: OpenCall): Promise<ConversationSnapshot | undefined> {
    const running = this.#heads.get(name);
    if (running !== undefined) return await running;
    const read = this.#log.head(call).then((head) => head?.snapshot);
    this.#heads.set(name, read);
    try {
      return await read;
    } finally {
      this.#heads.delete(name);
    }
  }

  async #offerOf(call: OpenCall): Promise<ToolOffer | undefined> {
    const name = nameOf(call);
    const kept = this.#offers.get(name);
    if (kept !== undefined) return kept === 'none' ? undefined : kept;
    const snapshot = await this.#snapshotFor(name, call);
    const waiting = waitingIn(snapshot, call.toolCallId);
    const offer =
      snapshot === undefined || waiting === undefined
        ? undefined
        : offerOf(snapshot, waiting, call.claims);
    this.#offers.set(name, offer ?? 'none');
    return offer;
  }
}

/** A call in the state in which a watcher has seen it; not offered, if no client may claim it. */
interface ShownCall {
  readonly call: OpenCall;
  readonly isOffered: boolean;
}

/** The calls that a watcher has seen. The id of a set is the same for every order in which they came. */
class ShownCalls {
  readonly #byName = new Map<string, ShownCall>();
  #sum = 0n;

  get id(): string {
    return `${this.#byName.size}-${this.#sum.toString(36)}`;
  }

  all(): readonly ShownCall[] {
    return [...this.#byName.values()];
  }

  get(call: OpenCall): ShownCall | undefined {
    return this.#byName.get(callNameOf(call));
  }

  put(call: OpenCall, isOffered: boolean): void {
    this.remove(call);
    this.#byName.set(callNameOf(call), { call, isOffered });
    this.#sum ^= hashOf(nameOf(call));
  }

  remove(call: OpenCall): void {
    const before = this.get(call);
    if (before === undefined) return;
    this.#byName.delete(callNameOf(call));
    this.#sum ^= hashOf(nameOf(before.call));
  }

  /** Takes over all of another, when this one is empty. */
  take(other: ShownCalls): void {
    for (const { call, isOffered } of other.all()) this.put(call, isOffered);
  }
}

function hashOf(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigUInt64BE();
}

function callNameOf(call: OpenCall): string {
  return `${conversationKey(call)}/${call.toolCallId}`;
}

function nameOf(call: OpenCall): string {
  const { generation, openedAtMs, seq } = call;
  return `${callNameOf(call)}/${generation}.${openedAtMs}.${seq}`;
}

function areSame(older: readonly OpenCall[], newer: readonly OpenCall[]): boolean {
  return (
    older.length === newer.length &&
    older.every((call, index) => {
      const other = newer[index];
      return other !== undefined && nameOf(other) === nameOf(call);
    })
  );
}

function queryOf(
  { tenant, tools, executors, agent, actor }: OffersOf,
  limit: number,
): OpenCallsRead {
  return {
    tenant,
    tools: [...new Set(tools)].sort(),
    kinds: [...new Set(executors)].sort().map((executor) => KINDS[executor]),
    ...(agent === undefined ? {} : { agent }),
    admits: { id: actor.id, roles: actor.roles ?? [], verified: actor.verified },
    limit,
  };
}

function waitingIn(
  snapshot: ConversationSnapshot | undefined,
  toolCallId: string,
): PendingCall | undefined {
  return snapshot?.pending.find((call) => call.toolCallId === toolCallId);
}

/** Undefined for a call that is held by now, and for one that a sub-agent runs, which no other may answer. */
function offerOf(
  { conversationId, agent }: ConversationSnapshot,
  call: PendingCall,
  claims: number,
): ToolOffer | undefined {
  const { kind, claim, childId } = call;
  if (claim !== undefined || childId !== undefined) return undefined;
  const { ref, toolCallId, turnId, name: tool, prompt: input, openedAt, deadline } = call;
  const { argsDigest, claimBy, streaming, detached, reverted } = call;
  return {
    ...{ ref, conversationId, toolCallId, turnId, agent: call.agent ?? agent, tool },
    executor: kind === KINDS.client ? 'client' : 'external',
    ...{ input, openedAt, deadline, attempt: claims + 1 },
    ...(argsDigest === undefined ? {} : { argsDigest }),
    ...(claimBy === undefined ? {} : { claimBy }),
    ...(streaming === undefined ? {} : { streaming }),
    ...(detached === undefined ? {} : { detached }),
    ...(reverted === undefined ? {} : { reverted }),
  };
}
