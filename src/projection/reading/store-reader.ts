/**
 * The client's reader over the event log. The store answers; the workflow is queried only for events that a caller
 * knows to be recorded and the store does not have yet, because a workflow buffers one query and has turns to run.
 */
import type {
  BeforePosition,
  ConversationPage,
  ConversationReader,
  ListedBy,
  LogPage,
  OfferReader,
  ReadPosition,
  WatchFrame,
  WorklistBy,
} from '../../client/ports/reader.js';
import { forkPointOf } from '../../core/fork/point.js';
import { statesAfter } from '../../core/plugins/states.js';
import { foldView } from '../../core/view/view.js';
import { worklistItem } from '../../core/view/worklist.js';
import { whatIfPointOf } from '../../core/what-if/point.js';
import type { PluginStates, PluginStatesRead } from '../../protocol/calls/plugin-state.js';
import type { ConversationSnapshot, TurnResult } from '../../protocol/conversation/conversation.js';
import type { ForkCut, ForkPoint, WhatIfPoint, WhatIfTurn } from '../../protocol/forks/forks.js';
import { QUERY_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import type {
  ConversationsFilter,
  ConversationsFrame,
} from '../../protocol/log/conversations-stream.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { WorklistFrame, WorklistPage } from '../../protocol/log/worklist.js';
import type { ModelCallRead } from '../../protocol/model/model-calls.js';
import type { ConversationKey, NameableKeys, TurnId } from '../../protocol/values/ids.js';
import { needing } from '../../store/plans/presence.js';
import { shownWith } from '../../store/plans/service/troubles.js';
import { isDeletedRun } from '../../store/ports/deletions.js';
import type { DocumentStore } from '../../store/ports/documents/documents.js';
import type { CallLease } from '../../store/ports/leases.js';
import type { LiveChannel } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import type { LogHead } from '../../store/ports/log-head.js';
import { FollowedConversations } from '../changes/hubs.js';
import { ChangePoll } from '../changes/poll.js';
import type { AuditBlobs } from '../model-calls/audited.js';
import { definitionFinder } from '../model-calls/definitions.js';
import { modelCallAt, type RequestSources } from '../model-calls/model-call.js';
import { Outages, type ProjectionLogger, SILENT } from '../source/outages.js';
import type { WorkflowSource } from '../source/workflow-source.js';
import { Worklists } from '../worklist/hubs.js';
import { ChangeWaiter } from './change-waiter.js';
import { createOfferReader } from './tool-offers.js';
import { waitForTurn } from './turn-result.js';
import { readAfter, readBefore, watchLog } from './watch-log.js';
import { wholeLog } from './whole-log.js';

export interface StoreReaderDeps {
  readonly log: EventLog;
  /** Without it, all waits poll. */
  readonly live?: LiveChannel;
  /**
   * The workflows (`createWorkflowSource(temporal)`), queried for events that a caller knows to be recorded and the
   * store lacks. `'none'`: readers see the stored state, however old, for processes that can reach only the store.
   */
  readonly source: WorkflowSource | 'none';
  /** Where workers store the audit of model calls. @defaultValue requests of model calls are derived from the log */
  readonly blobs?: AuditBlobs | undefined;
  /** Where workers keep the definitions of agents. @defaultValue derived requests have no system prompt and no tools */
  readonly documents?: Pick<DocumentStore, 'get'> | undefined;
  /** Gets a line when waiting calls cannot be read for those who follow them, and when they can be again. */
  readonly logger?: ProjectionLogger;
}

export function createStoreReader(deps: StoreReaderDeps): ConversationReader {
  return new StoreReader(deps);
}

type SnapshotOptions = NonNullable<Parameters<ConversationReader['snapshot']>[1]>;

class StoreReader implements ConversationReader {
  readonly #log: EventLog;
  readonly #live: LiveChannel | undefined;
  readonly #source: WorkflowSource | undefined;
  readonly #requests: RequestSources;
  readonly #worklists: Worklists;
  readonly #followed: FollowedConversations;
  readonly toolOffers: OfferReader;

  constructor(deps: StoreReaderDeps) {
    this.#log = deps.log;
    this.#live = deps.live;
    const { blobs, documents } = deps;
    const definitions = documents === undefined ? undefined : definitionFinder(documents);
    this.#requests = { blobs, definitions };
    this.#source = deps.source === 'none' ? undefined : deps.source;
    const outages = new Outages(deps.logger ?? SILENT);
    const sources = { live: deps.live, poll: new ChangePoll(deps.log, outages) };
    this.#worklists = new Worklists({ log: deps.log, ...sources, outages });
    this.#followed = new FollowedConversations({ log: deps.log, ...sources, outages });
    this.toolOffers = createOfferReader({ log: deps.log, live: deps.live, outages });
  }

  async snapshot(
    key: ConversationKey,
    options: SnapshotOptions = {},
  ): Promise<ConversationSnapshot | undefined> {
    const snapshot = await this.#shown(await this.#logged(key, options));
    if (snapshot?.pending.some(({ claim }) => claim !== undefined) !== true) return snapshot;
    return withLeases(snapshot, await this.#log.callLeases(key));
  }

  /** Adds trouble and attention, which only open conversations can have. */
  async #shown(
    snapshot: ConversationSnapshot | undefined,
  ): Promise<ConversationSnapshot | undefined> {
    if (snapshot === undefined || snapshot.status === 'closed') return snapshot;
    const [trouble, gone] = await Promise.all([
      this.#log.trouble(snapshot),
      this.#log.goneAgents(),
    ]);
    return needing(shownWith(snapshot, trouble), gone);
  }

  async #logged(
    key: ConversationKey,
    options: SnapshotOptions = {},
  ): Promise<ConversationSnapshot | undefined> {
    const stored = await this.#log.head(key);
    if (stored === undefined && (await this.#isDeleted(key))) return undefined;
    const atLeastSeq = options.atLeastSeq ?? 1;
    if (this.#source === undefined || (stored?.lastSeq ?? 0) >= atLeastSeq) return stored?.snapshot;
    if (options.atLeastSeq === undefined && !(await this.#isRunning(key))) return undefined;
    const head = await this.#waitFor(key, atLeastSeq);
    if ((head?.lastSeq ?? 0) >= atLeastSeq) return head?.snapshot;
    return await this.#withTail(key, head, options.answered);
  }

  async events(
    key: ConversationKey,
    options: ReadPosition & { limit?: number; before?: BeforePosition } = {},
  ): Promise<LogPage | undefined> {
    const { after, before, limit } = options;
    const bound = limit === undefined ? {} : { limit };
    const read = async () =>
      before === undefined
        ? await readAfter(this.#log, key, { after, ...bound })
        : await readBefore(this.#log, key, { before, ...bound });
    let page = await read();
    if (page === undefined && !(await this.#isDeleted(key)) && (await this.#isRunning(key))) {
      await this.#waitFor(key, 1);
      page = await read();
    }
    if (page === undefined) return undefined;
    const { generation, events, more, lastSeq } = page;
    const seq = events.at(-1)?.seq ?? after?.seq ?? 0;
    const tail = before === 'end' ? { tail: { generation, seq: lastSeq } } : {};
    return { generation, events, cursor: { generation, seq }, more, ...tail };
  }

  async list(options: ListedBy): Promise<ConversationPage> {
    return await this.#log.list(options);
  }

  async watchList(
    by: ConversationsFilter & { readonly tenant: string },
    from: { readonly after?: string | undefined; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<ConversationsFrame>> {
    return await this.#followed.watch(by, from);
  }

  async worklist({ actor, mine, ...by }: WorklistBy): Promise<WorklistPage> {
    const request = { ...by, ...(mine ? { mayAnswer: actor } : {}) };
    const [page, counts] = await Promise.all([
      this.#log.waiting(request),
      by.cursor === undefined ? this.#log.countWaiting(request) : undefined,
    ]);
    const items = page.items.map((item) => worklistItem(item, actor));
    return { ...page, items, ...(counts === undefined ? {} : { counts }) };
  }

  async watchWorklist(
    by: WorklistBy,
    from: { readonly after?: string | undefined; readonly signal: AbortSignal },
  ): Promise<AsyncIterable<WorklistFrame>> {
    return await this.#worklists.watch(by, from);
  }

  async turnResult(
    key: ConversationKey,
    turnId: TurnId,
    options: {
      timeoutMs: number;
      signal?: AbortSignal;
      returnWhenWaiting?: boolean;
      atLeastSeq?: number;
    },
  ): Promise<TurnResult | undefined> {
    const { returnWhenWaiting = true } = options;
    const deps = { log: this.#log, live: this.#live };
    return await waitForTurn(deps, { ...options, key, turnId, returnWhenWaiting });
  }

  watch(
    key: ConversationKey,
    options: ReadPosition & { signal: AbortSignal },
  ): AsyncIterable<WatchFrame> {
    return watchLog({ log: this.#log, live: this.#live }, key, options);
  }

  async pluginStates(key: ConversationKey): Promise<PluginStatesRead | undefined> {
    let [seq, states]: [number, PluginStates] = [0, {}];
    for await (const event of wholeLog(this.#log, key)) {
      ({ seq } = event);
      if (event.type === 'state_patch' && event.refused === undefined)
        states = statesAfter(states, [event]) ?? states;
    }
    return seq === 0 ? undefined : { seq, states };
  }

  async turnEvents(key: ConversationKey, turnId: TurnId): Promise<readonly CanonicalEvent[]> {
    return await this.#log.readTurn(key, turnId);
  }

  async isDeletedRun(key: ConversationKey, runId: string): Promise<boolean> {
    return await isDeletedRun(this.#log, key, runId);
  }

  async forkPoint(key: ConversationKey, cut: ForkCut): Promise<ForkPoint | undefined> {
    return await forkPointOf(wholeLog(this.#log, key, cut.generation), cut);
  }

  async whatIfPoint(key: ConversationKey, turn: WhatIfTurn): Promise<WhatIfPoint | undefined> {
    return await whatIfPointOf(wholeLog(this.#log, key, turn.generation), turn);
  }

  async modelCall(
    key: ConversationKey,
    { generation: named, seq }: { readonly generation?: number | undefined; readonly seq: number },
  ): Promise<ModelCallRead | undefined> {
    const generation = named ?? (await this.#log.head(key))?.generation;
    if (generation === undefined) return undefined;
    const events = wholeLog(this.#log, key, generation);
    return await modelCallAt(this.#requests, events, { key, generation, seq });
  }

  async findTurn(turnId: TurnId, among?: NameableKeys): Promise<ConversationKey | undefined> {
    return await this.#log.findTurn(turnId, among);
  }

  /** Whether the run that Temporal may still have under the id is the deleted one, and not another conversation. */
  async #isDeleted(key: ConversationKey): Promise<boolean> {
    const deletion = await this.#log.deletion(key);
    if (deletion === undefined) return false;
    const run = await this.#source?.describe(key).catch(() => undefined);
    return run === undefined || deletion.runIds.includes(run.runId);
  }

  /** Whether a conversation that the store does not have is about to appear there; needs no worker. */
  async #isRunning(key: ConversationKey): Promise<boolean> {
    try {
      return (await this.#source?.describe(key))?.status === 'running';
    } catch {
      return false;
    }
  }

  /** Waits for the projector: every reader can read stored events, and only one caller the reply of a query. */
  async #waitFor(key: ConversationKey, seq: number): Promise<LogHead | undefined> {
    const giveUpAt = performance.now() + QUERY_DEADLINE_MS;
    const waiter = new ChangeWaiter({ live: this.#live, key });
    try {
      for (;;) {
        const head = await this.#log.head(key);
        const leftMs = giveUpAt - performance.now();
        if ((head?.lastSeq ?? 0) >= seq || leftMs <= 0) return head;
        waiter.polled(true);
        await waiter.wait(leftMs);
      }
    } finally {
      waiter.close();
    }
  }

  /** The stored snapshot with the workflow's events beyond it; the stored one when the workflow does not answer. */
  async #withTail(
    key: ConversationKey,
    head: LogHead | undefined,
    answered: SnapshotOptions['answered'],
  ): Promise<ConversationSnapshot | undefined> {
    let view = head?.snapshot;
    try {
      for (let more = true; more; ) {
        const page = await this.#source?.events(key, { after: view?.seq ?? 0 });
        // A run that is opened again has no events until it has restored them.
        if (page !== undefined && page.lastSeq > 0) answered?.(page.lastSeq);
        const next = page?.events[0]?.seq;
        if (page === undefined || next !== (view?.seq ?? 0) + 1) return view;
        for (const event of page.events) view = foldView(view, event);
        more = page.more;
      }
    } catch {
      // An old state is better than none; its `seq` says how old it is.
    }
    return head === undefined || view === undefined
      ? view
      : { ...view, generation: head.generation };
  }
}

/** Adds the ends of leases, because renewals are in no log. */
function withLeases(
  snapshot: ConversationSnapshot,
  leases: readonly CallLease[],
): ConversationSnapshot {
  const pending = snapshot.pending.map((entry) => {
    const { claim } = entry;
    const lease = leases.find(({ claimId }) => claimId === claim?.claimId);
    if (claim === undefined || lease === undefined) return entry;
    return { ...entry, claim: { ...claim, leaseMs: lease.leaseMs, leaseUntil: lease.leaseUntil } };
  });
  return { ...snapshot, pending };
}
