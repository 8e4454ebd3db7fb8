/**
 * The event log port: a projection of the decisions of workflows. Adapters: sqlite and Postgres; one conformance suite
 * (`test/support/conformance/event-log.ts`) holds for both. Every method may reject with `StoreUnavailable`.
 */
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey, NameableKeys, TurnId } from '../../protocol/values/ids.js';
import type { Deletions } from './deletions.js';
import type { CallLeases } from './leases.js';
import type { ConversationLists } from './lists.js';
import type { HeadPosition, LogHead } from './log-head.js';
import type { OpenCalls } from './open-calls.js';
import type { WorkerPresence } from './presence.js';
import type { ApiKeyStore } from './service/api-keys.js';
import type { LogStatistics } from './service/counts.js';
import type { Troubles } from './troubles.js';
import type { Worklists } from './worklist.js';

export class StoreUnavailable extends Error {
  readonly code = 'store_unavailable';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreUnavailable';
  }
}

export interface AppendBatch extends ConversationKey {
  readonly runId: string;
  readonly historyLength?: number;
  /** Dense and ascending, as the workflow numbered them; may overlap the stored events. */
  readonly events: readonly CanonicalEvent[];
  /**
   * The current run ends its log at `lastSeq`, below the stored end: a reset dropped the rest, so the log is rewritten
   * without it. Ignored unless `head` is still the stored head (another writer may have been faster).
   */
  readonly cutsOff?: {
    readonly lastSeq: number;
    readonly head: HeadPosition;
  };
  /**
   * Present for events of the origin of a fork, which the log of the fork begins with: until its own events follow,
   * nothing in it waits, lists show it as closed, and no webhook is sent.
   */
  readonly copied?: true;
  /**
   * If given and no longer the stored head, nothing is stored and the outcome is `gap`: for events that no workflow has
   * emitted.
   */
  readonly onlyAt?: HeadPosition;
}

/**
 * `appended`: stored (0 added when all were known). `rewritten`: the same seq was stored with other content, so a new
 * generation was opened: it holds a `log_rewritten` marker at seq 0, the rows before the divergence, and the new
 * events. `gap`: the first event is beyond `lastSeq + 1`, or the head is not the one of `onlyAt`; nothing was stored,
 * read the source again from `lastSeq`. `deleted`: the run belongs to a conversation that was deleted; nothing is
 * stored, now or later.
 */
export type AppendResult =
  | { readonly outcome: 'appended' | 'rewritten'; readonly head: LogHead; readonly added: number }
  | { readonly outcome: 'gap'; readonly lastSeq: number }
  | { readonly outcome: 'deleted' };

export interface ReadOptions {
  readonly generation?: number;
  /** Events with a greater seq. -1 includes the `log_rewritten` marker at 0. @defaultValue -1 */
  readonly afterSeq?: number;
  /** Newest first, only events with a smaller seq; `afterSeq` then bounds them below. */
  readonly beforeSeq?: number;
  readonly limit?: number;
  readonly maxBytes?: number;
}

export interface EventsRead {
  readonly generation: number;
  readonly lastSeq: number;
  readonly events: readonly CanonicalEvent[];
  /** Whether there are more in the direction of the read. */
  readonly more: boolean;
}

export interface SeenRun {
  readonly runId: string;
  readonly historyLength: number;
  /** The run of the head before the read. A head of neither run stays: a later run has begun meanwhile. */
  readonly wasRunId: string;
}

export interface WantedLease {
  readonly name: string;
  readonly holder: string;
  readonly ttlMs: number;
  /** A short text for those who look at the lease. Absent: the one before stays, also that of another holder. */
  readonly note?: string;
}

export interface HeldLease {
  readonly holder: string;
  /** Milliseconds until it ends, by the clock of the store; 0 when it has ended. */
  readonly leftMs: number;
  readonly note?: string;
}

export interface EventLog
  extends CallLeases,
    ConversationLists,
    Deletions,
    LogStatistics,
    OpenCalls,
    Troubles,
    WorkerPresence,
    Worklists {
  readonly apiKeys: ApiKeyStore;
  /** Atomic and idempotent: appending the same events again adds nothing. Folds and stores the snapshot with them. */
  append(batch: AppendBatch): Promise<AppendResult>;
  head(key: ConversationKey): Promise<LogHead | undefined>;
  /** Undefined when the conversation is not in the store. Without `generation`, the newest one. */
  read(key: ConversationKey, options?: ReadOptions): Promise<EventsRead | undefined>;
  /** Events of one turn, newest generation, in order. */
  readTurn(key: ConversationKey, turnId: TurnId): Promise<readonly CanonicalEvent[]>;
  /**
   * The conversation in which a turn began; turn ids are unique over all of them, but for forks. A fork of it, always
   * the same, where it was deleted, or `among` does not have it. @defaultValue among all conversations
   */
  findTurn(turnId: TurnId, among?: NameableKeys): Promise<ConversationKey | undefined>;
  /** Records that a run was read and had no new events. */
  touch(key: ConversationKey, seen: SeenRun): Promise<void>;
  /** Workers publish the agents that they serve; clients check against them. */
  publishAgents(manifests: readonly AgentManifest[]): Promise<void>;
  /** The published agents. `notServedSince` is set if there are workers, and none serves the agent. */
  agents(): Promise<readonly AgentManifest[]>;
  /**
   * Names this store among all: 12 hexadecimal digits, created once with its tables and the same for every process that
   * opens it.
   */
  storeId(): Promise<string>;
  /** Writes a field that no code reads. Rejects if the store is read-only or full. */
  checkWritable(): Promise<void>;
  /** One holder at a time; true when the caller holds the lease until now + ttl. Safe to repeat; renews. */
  acquireLease(lease: WantedLease): Promise<boolean>;
  /** The lease of this name, also after its end, until it is released or another process gets it. */
  heldLease(name: string): Promise<HeldLease | undefined>;
  releaseLease(lease: { name: string; holder: string }): Promise<void>;
  close(): Promise<void>;
}
