/** Begins forks: a new conversation with the state that another one had at a finished step or turn. */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { isFailureCode } from '../../protocol/failures/failures.js';
import type { ForkCut, ForkOrigin } from '../../protocol/forks/forks.js';
import { MAX_CALLS_PER_STEP, MAX_DETACHED_CALLS } from '../../protocol/limits/limits.js';
import { UPDATE_DEADLINE_MS } from '../../protocol/limits/service-limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import {
  type ConversationKey,
  idProblem,
  REUSED,
  requestIdProblem,
} from '../../protocol/values/ids.js';
import { canonicalJson } from '../../protocol/values/json.js';
import { wholeProblem } from '../api/checks.js';
import { ConversationError, invalidField } from '../api/errors.js';
import type { Forked, ForkOptions } from '../api/types.js';
import { isOpenRun } from '../temporal/executions.js';
import type { StartPolicy } from '../temporal/start-options.js';
import { findServedAgent } from './agents.js';
import type { SendingParts } from './sending.js';

/** Milliseconds between two looks for the first event of a fork. */
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 200;
const MAX_REOPENED = MAX_CALLS_PER_STEP + MAX_DETACHED_CALLS;

/** @throws {ConversationError} invalid_request with every field that breaks a rule */
export function checkedFork(options: ForkOptions): ForkCut {
  const { generation, atSeq, reopen = [], id, requestId } = options;
  const problems: FieldProblem[] = [];
  const refuse = (path: string, message: string | undefined): void => {
    if (message !== undefined) problems.push({ path, message });
  };
  refuse('/generation', wholeProblem(generation));
  refuse('/atSeq', wholeProblem(atSeq));
  const isList = Array.isArray(reopen) && reopen.every((entry) => typeof entry === 'string');
  if (!isList) refuse('/reopen', 'must be a list of ids of calls');
  else if (reopen.length > MAX_REOPENED)
    refuse('/reopen', `must have at most ${MAX_REOPENED} entries`);
  else if (new Set(reopen).size < reopen.length) refuse('/reopen', 'must name each call once');
  if (id !== undefined) refuse('/id', idProblem('id', id));
  if (requestId !== undefined) refuse('/requestId', requestIdProblem('requestId', requestId));
  if (problems.length > 0) throw invalid(problems);
  return { generation, atSeq, reopen };
}

function invalid(problems: readonly FieldProblem[]): ConversationError {
  const [first] = problems;
  const detail = first === undefined ? '' : `: ${first.path.slice(1)} ${first.message}`;
  return new ConversationError('invalid_request', `The conversation cannot be forked${detail}`, {
    problems,
  });
}

/** @throws errors of Temporal and of the store; {ConversationError} see `Conversation.fork` */
export async function forkConversation(parts: SendingParts, options: ForkOptions): Promise<Forked> {
  const { key, reader } = parts;
  const cut = checkedFork(options);
  if (reader.forkPoint === undefined)
    throw new ConversationError('store_unavailable', 'Forking needs the event log');
  const point = await reader.forkPoint(key, cut);
  if (point === undefined)
    throw invalidField('/generation', 'must be a generation of the log of the conversation');
  if ('problems' in point) throw invalid(point.problems);
  const { agent, notCarried } = point;
  const origin: ForkOrigin = {
    ...{ conversationId: key.conversationId, generation: cut.generation, seq: cut.atSeq },
    ...(cut.reopen.length === 0 ? {} : { reopenedCalls: cut.reopen }),
  };
  const forkKey = { ...key, conversationId: idOf(key, options) };
  const about = { conversationId: forkKey.conversationId, agent, origin, notCarried };
  const known = await stored(parts, forkKey);
  if (isFrom(known, origin)) return forked(parts, known, { ...about, duplicate: true });
  const manifest = await findServedAgent(parts.agents, { tenant: key.tenant, name: agent });
  const start = await policyFor(parts, { key: forkKey, origin, known }, options);
  const isNew = await parts.gateway.startFork({ key: forkKey, manifest, start, fork: origin });
  if (!isNew && !isRunOf(await parts.gateway.describe(forkKey), origin)) throw taken(options);
  const deadline = Date.now() + UPDATE_DEADLINE_MS * parts.gateway.patience();
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
    const snapshot = await stored(parts, forkKey);
    if (isFrom(snapshot, origin)) return forked(parts, snapshot, { ...about, duplicate: !isNew });
    await refuseFailed(parts, forkKey);
    if (Date.now() + pause >= deadline) {
      const { reason, text } = await parts.gateway.whyUnanswered(forkKey);
      return { status: 'queued', ...about, duplicate: !isNew, reason, warning: text };
    }
    await sleep(pause);
  }
}

/** A repeat under the same request id finds the fork of the first. */
function idOf({ conversationId }: ConversationKey, { id, requestId }: ForkOptions): string {
  if (id !== undefined) return id;
  if (requestId === undefined) return `f-${randomUUID()}`;
  const digest = createHash('sha256').update(`${conversationId}\n${requestId}`).digest('hex');
  return `f-${digest.slice(0, 32)}`;
}

/** The snapshot of the store; undefined while the run has copied nothing. */
async function stored(
  { log, reader }: SendingParts,
  key: ConversationKey,
): Promise<ConversationSnapshot | undefined> {
  return await (log ?? reader).snapshot(key);
}

function isFrom(
  snapshot: ConversationSnapshot | undefined,
  origin: ForkOrigin,
): snapshot is ConversationSnapshot {
  return snapshot?.origin !== undefined && canonicalJson(snapshot.origin) === canonicalJson(origin);
}

function forked(
  { known }: SendingParts,
  snapshot: ConversationSnapshot,
  about: Omit<Extract<Forked, { status: 'forked' }>, 'status' | 'seq'>,
): Forked {
  const { tenant, conversationId, seq } = snapshot;
  known.note({ tenant, conversationId }, seq);
  return { status: 'forked', ...about, seq };
}

interface Found {
  readonly key: ConversationKey;
  readonly origin: ForkOrigin;
  readonly known: ConversationSnapshot | undefined;
}

/**
 * A fork whose run has ended without a beginning may begin again, also where a part of the log was copied.
 * @throws {ConversationError} invalid_request when the id is taken
 */
async function policyFor(
  { gateway }: SendingParts,
  { key, origin, known }: Found,
  options: ForkOptions,
): Promise<StartPolicy> {
  const run = await gateway.describe(key);
  if (known !== undefined && !isRunOf(run, origin)) throw taken(options);
  if (await gateway.wasDeleted(key)) return { reuse: 'ALLOW_DUPLICATE' };
  return { reuse: hasFailed(run) ? 'ALLOW_DUPLICATE_FAILED_ONLY' : 'REJECT_DUPLICATE' };
}

type Run = Awaited<ReturnType<SendingParts['gateway']['describe']>>;

/** Whether the run was started as this fork: its memo has the origin. */
function isRunOf(run: Run, origin: ForkOrigin): boolean {
  const fork = run?.memo?.['fork'];
  return fork !== undefined && canonicalJson(fork) === canonicalJson(origin);
}

/** Also a run that an operator has cancelled or terminated. */
function hasFailed(run: Run): run is NonNullable<Run> {
  return run !== undefined && !isOpenRun(run) && run.status.name !== 'COMPLETED';
}

function taken({ id }: ForkOptions): ConversationError {
  return id === undefined
    ? invalid([REUSED])
    : invalid([{ path: '/id', message: 'must be an id that no conversation has' }]);
}

/** @throws {ConversationError} the failure of the run, when it has failed */
async function refuseFailed({ gateway }: SendingParts, key: ConversationKey): Promise<void> {
  const run = await gateway.describe(key);
  if (run === undefined && (await gateway.wasDeleted(key)))
    throw new ConversationError(
      'unknown_conversation',
      `The fork "${key.conversationId}" did not begin: it, or its origin, was deleted meanwhile`,
    );
  if (!hasFailed(run)) return;
  const type = await gateway.failureType(key, run.runId);
  const code = type !== undefined && isFailureCode(type) ? type : 'internal';
  const why =
    run.status.name === 'FAILED'
      ? 'the origin was deleted or rewritten meanwhile, or another conversation has the id'
      : `its run was ended from outside (${run.status.name}); the same request begins it again`;
  throw new ConversationError(code, `The fork "${key.conversationId}" did not begin: ${why}`);
}
