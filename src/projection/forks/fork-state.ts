/**
 * Begins a fork: copies the log of the origin up to the cut into a log of its own, with the stored values that it
 * names, and makes the state from it. Runs in workers. The origin is only read, and may be deleted afterwards.
 */
import { droppedAtRollOver } from '../../core/context/carry-over.js';
import { chunkIdsIn } from '../../core/context/offloaded.js';
import { type Fork, forkOf } from '../../core/fork/fork.js';
import { cutAt, reopenProblems } from '../../core/fork/point.js';
import type { ConversationState } from '../../core/state/state.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { ForkInput, RestoreStateInput } from '../../protocol/workflow/activities.js';
import type { CarriedState } from '../../protocol/workflow/messaging.js';
import type { BlobStore } from '../../store/ports/blobs.js';
import type { EventLog } from '../../store/ports/log.js';
import { MAX_RESTORED_BYTES } from '../reading/reopening.js';
import { carriedOf } from '../reading/restore-state.js';
import { wholeLog } from '../reading/whole-log.js';
import { copyLog } from './copy-log.js';

/** The fork cannot begin, however often it is tried. */
export class NotForkable extends Error {
  readonly retryable = false;
  readonly code: 'unknown_conversation' | 'invalid_request';

  constructor(code: NotForkable['code'], message: string) {
    super(message);
    this.name = 'NotForkable';
    this.code = code;
  }
}

export interface ForkDeps {
  readonly log: EventLog;
  /** Absent: values that the origin has stored are not in the fork. */
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'delete'> | undefined;
  /** Gives the attempt up. */
  readonly signal?: AbortSignal | undefined;
}

export type ForkRequest = RestoreStateInput & { readonly fork: ForkInput };

export function isForkInput(input: RestoreStateInput): input is ForkRequest {
  return input.fork !== undefined;
}

/**
 * The state of the fork, with its first event. Safe to repeat: what was copied before is not copied again, and a copy
 * that is whole outlasts its origin.
 * @throws {NotForkable} when the log of the origin is gone, or another conversation has the id
 * @throws {StoreUnavailable}
 */
export async function forkState(deps: ForkDeps, request: ForkRequest): Promise<CarriedState> {
  const { tenant, conversationId, fork } = request;
  const { origin, runId } = fork;
  const to = { tenant, conversationId, runId };
  const { cut, from } = (await cutIn(deps, request)) ?? (await cutInCopy(deps, request));
  const [problem] = reopenProblems(cut, origin.reopenedCalls ?? []);
  if (problem !== undefined) throw new NotForkable('invalid_request', problem.message);
  const { state, ends, started } = begun(cut, request);
  const outcome = await copyLog(deps, {
    from,
    to,
    throughSeq: origin.seq,
    chunks: [...chunkIdsIn(state.transcript)],
    ends,
  });
  if (outcome === 'taken')
    throw new NotForkable('invalid_request', `Another conversation has the id "${conversationId}"`);
  if (outcome === 'deleted')
    throw new NotForkable('unknown_conversation', `The fork "${conversationId}" was deleted`);
  const carried = carriedOf(state);
  return { ...carried, events: [started, ...carried.events] };
}

interface FoundCut {
  readonly cut: ConversationState;
  readonly from: ConversationKey & { readonly generation: number };
}

/** Undefined where the origin has no such place (any more). */
async function cutIn(deps: ForkDeps, { tenant, fork }: ForkRequest): Promise<FoundCut | undefined> {
  const { conversationId, generation, seq } = fork.origin;
  const from = { tenant, conversationId, generation };
  const found = await cutAt(wholeLog(deps.log, from, generation), seq);
  return 'state' in found ? { cut: found.state, from } : undefined;
}

/**
 * The place in the copy of an attempt before. A copy without it is removed, because no attempt can complete it.
 * @throws {NotForkable}
 */
async function cutInCopy(deps: ForkDeps, request: ForkRequest): Promise<FoundCut> {
  const { tenant, conversationId, fork } = request;
  const { log, blobs } = deps;
  const { origin, runId } = fork;
  const to = { tenant, conversationId };
  const head = await log.head(to);
  if (head?.runId === runId) {
    const copy = { ...origin, conversationId, generation: head.generation };
    const found = await cutIn(deps, { ...request, fork: { ...fork, origin: copy } });
    if (found !== undefined) return found;
    const removed = await log.beginDeletion({ ...to, runIds: [runId], onlyAt: head });
    if (removed !== undefined) await blobs?.delete(to);
  }
  throw new NotForkable(
    'unknown_conversation',
    `Conversation "${origin.conversationId}" has no finished step at ${origin.generation}-${origin.seq} (any more)`,
  );
}

/** Leaves the oldest whole turns to the origin where the state is too large; its log is copied whole. */
function begun(cut: ConversationState, request: ForkRequest): Fork {
  const at = new Date().toISOString();
  const { tenant, conversationId, chain, fork: input } = request;
  const { origin, settings } = input;
  const key: ConversationKey = { tenant, conversationId };
  const about = { ...key, agent: cut.agent, chain, settings, origin };
  const started = { type: 'conversation_started', ...about } as const;
  const fork = forkOf(cut, started, at);
  if (fits(fork)) return fork;
  const droppedMessages = droppedAtRollOver(fork.state);
  const smaller = forkOf(cut, { ...started, droppedMessages }, at);
  if (fits(smaller)) return smaller;
  throw new NotForkable(
    'invalid_request',
    `The state of "${origin.conversationId}" besides its transcript is over ${MAX_RESTORED_BYTES} bytes`,
  );
}

function fits({ state, started }: Fork): boolean {
  const events: readonly CanonicalEvent[] = [started];
  return utf8Bytes(JSON.stringify({ ...carriedOf(state), events })) <= MAX_RESTORED_BYTES;
}
