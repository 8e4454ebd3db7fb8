/**
 * Plans the effect of an append on a stored log without touching it; every adapter carries out the same plan.
 *
 * P1  A row once stored in a generation never changes.
 * P2  The rows of a generation are dense from 1, after an optional marker at 0.
 * P3  Content that disagrees with a stored row is never dropped: it opens the next generation.
 */

import { createHash } from 'node:crypto';
import { titleOf } from '../../core/view/title.js';
import { foldView } from '../../core/view/view.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationId } from '../../protocol/values/ids.js';
import { canonicalJson } from '../../protocol/values/json.js';
import type { Deletion, Deletions } from '../ports/deletions.js';
import type { AppendBatch } from '../ports/log.js';
import type { HeadPosition, LogHead } from '../ports/log-head.js';

export type AppendPlan =
  | { readonly type: 'gap'; readonly lastSeq: number }
  /** `confirms`: the batch reaches the stored end, so its run is now the source of the log. */
  | {
      readonly type: 'extend';
      readonly events: readonly CanonicalEvent[];
      readonly confirms: boolean;
    }
  /** Opens the next generation with the stored rows through `keepThrough`, then `events`. */
  | {
      readonly type: 'rewrite';
      readonly keepThrough: number;
      readonly events: readonly CanonicalEvent[];
    };

/**
 * Compares a batch with the stored head; `hashAt` returns the content hash of a stored row of its generation.
 * @throws {RangeError} when the seqs of the batch are not dense: a defect of the caller.
 */
export function planAppend(
  batch: AppendBatch,
  head: LogHead | undefined,
  hashAt: (seq: number) => string | undefined,
): AppendPlan {
  const { events } = batch;
  const firstSeq = events[0]?.seq ?? 0;
  events.forEach((event, index) => {
    if (event.seq !== firstSeq + index || event.seq < 1)
      throw new RangeError(`events must be dense from 1: seq ${event.seq} after ${firstSeq}`);
  });
  const lastSeq = head?.lastSeq ?? 0;
  const isElsewhere = batch.onlyAt !== undefined && !isAt(head, batch.onlyAt);
  if (isElsewhere || firstSeq > lastSeq + 1 || (head === undefined && events.length === 0))
    return { type: 'gap', lastSeq };
  const differs = events.findIndex(
    (event) => event.seq <= lastSeq && hashAt(event.seq) !== contentHash(event),
  );
  if (differs >= 0)
    return { type: 'rewrite', keepThrough: firstSeq + differs - 1, events: events.slice(differs) };
  if (head !== undefined && isCutOff(batch, head))
    return { type: 'rewrite', keepThrough: batch.cutsOff?.lastSeq ?? lastSeq, events: [] };
  return {
    type: 'extend',
    events: events.filter((event) => event.seq > lastSeq),
    confirms: firstSeq + events.length - 1 >= lastSeq && events.length > 0,
  };
}

function isCutOff(batch: AppendBatch, head: LogHead): boolean {
  const { cutsOff } = batch;
  return (
    cutsOff !== undefined &&
    cutsOff.lastSeq >= 1 &&
    cutsOff.lastSeq < head.lastSeq &&
    isAt(head, cutsOff.head)
  );
}

/** Whether a stored head is the one that a position names. */
export function isAt(head: LogHead | undefined, position: HeadPosition): boolean {
  return (
    head?.generation === position.generation &&
    head.runId === position.runId &&
    head.lastSeq === position.lastSeq
  );
}

/** The `root` of a tombstone. `head`, `earlier`: the log that is deleted, and the tombstone that the id has. */
export function deletedRoot(
  request: Parameters<Deletions['beginDeletion']>[0],
  head: LogHead | undefined,
  earlier: Deletion | undefined,
): ConversationId | undefined {
  const { conversationId, withSubAgents } = request;
  if (withSubAgents !== true)
    return earlier?.finishedAtMs === undefined ? earlier?.root : undefined;
  if (head !== undefined) return head.snapshot.parent?.root ?? conversationId;
  return earlier?.root ?? conversationId;
}

/** The `generation` of a tombstone. */
export function deletedGeneration(
  head: Pick<LogHead, 'generation'> | undefined,
  earlier: Pick<Deletion, 'generation'> | undefined,
): number {
  return head?.generation ?? earlier?.generation ?? 0;
}

/** The generation that an append extends or begins. Behind a deleted log, so that its cursors name no event of this one. */
export function presentGeneration(
  head: Pick<LogHead, 'generation'> | undefined,
  deletion: Pick<Deletion, 'generation'> | undefined,
): number {
  return head?.generation ?? (deletion?.generation ?? 0) + 1;
}

/**
 * Folds events into a snapshot, and stamps it with its generation and the title of its first message.
 * @throws {TypeError} when there is no event to fold: a log begins with `conversation_started`.
 */
export function foldSnapshot(
  from: ConversationSnapshot | undefined,
  events: Iterable<CanonicalEvent>,
  generation: number,
): ConversationSnapshot {
  let view = from;
  let lastSeq = from?.seq ?? 0;
  let title = from?.title;
  for (const event of events) {
    view = foldView(view, event);
    lastSeq = event.seq;
    title ??= titleOf(event);
  }
  if (view === undefined) throw new TypeError('a log must begin with conversation_started');
  // Behind a gap, the snapshot may be ahead of the rows that it is stored with.
  const named = title === undefined ? {} : { title };
  return { ...view, ...named, seq: lastSeq, generation };
}

/**
 * The snapshot of a log that is extended. While the events of an origin are copied, it shows nothing that waits there:
 * the fork has no calls of the origin.
 */
export function extendedSnapshot(
  { tenant, conversationId, copied }: AppendBatch,
  by: {
    readonly from: ConversationSnapshot | undefined;
    readonly events: readonly CanonicalEvent[];
    readonly generation: number;
  },
): ConversationSnapshot {
  const snapshot = foldSnapshot(by.from, by.events, by.generation);
  if (copied !== true) return snapshot;
  const { parent: _caller, ...rest } = snapshot;
  const nothing = { queued: [], pending: [], inFlightTools: [] };
  return { ...rest, ...nothing, tenant, conversationId, status: 'closed' };
}

/** The marker that opens a generation after the first. */
export function rewrittenMarker(previousGeneration: number, divergedAtSeq: number): CanonicalEvent {
  return {
    type: 'log_rewritten',
    seq: 0,
    at: new Date().toISOString(),
    previousGeneration,
    divergedAtSeq,
  };
}

/** The head after an append. `before`: the head of the same generation, if there was one. */
export function headAfter(
  batch: AppendBatch,
  parts: {
    readonly before: LogHead | undefined;
    readonly generation: number;
    readonly snapshot: LogHead['snapshot'];
  },
): LogHead {
  const { tenant, conversationId, runId } = batch;
  const { before, generation, snapshot } = parts;
  // The known length of another run does not apply to this one: 0 makes the sweep check it.
  const knownLength = before?.runId === runId ? before.historyLength : 0;
  return {
    tenant,
    conversationId,
    generation,
    lastSeq: snapshot.seq,
    runId,
    historyLength: batch.historyLength ?? knownLength,
    snapshot,
  };
}

/** When a closed conversation was closed; undefined for one that is open. */
export function closedAtMs(snapshot: ConversationSnapshot): number | undefined {
  return snapshot.status === 'closed' ? Date.parse(snapshot.updatedAt) : undefined;
}

/**
 * SHA-256 (hex) of the canonical JSON without the event's time: equal for equal events in any order of fields. The time
 * is left out because it may differ between two replays of one run: the SDK joins tasks that issued no commands with
 * the task of an update, and a refused update leaves no trace. The time that was stored first stays.
 */
export function contentHash(event: CanonicalEvent): string {
  const { at: _at, ...content } = event;
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

/**
 * The same hash with the time: equal only if nothing at all has changed, which `contentHash` of one event cannot prove.
 */
export function exactHash(event: CanonicalEvent): string {
  return createHash('sha256').update(canonicalJson(event)).digest('hex');
}
