/** A result of a tool: finds the call of the run, and resolves it by the public client. Runs in Node. */
import type { Request } from 'express';
import { type Executor, waitsOutside } from '../../../protocol/calls/executors.js';
import type { Resolution, Verdict } from '../../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../../protocol/calls/suspensions.js';
import type { StampedActor } from '../../../protocol/values/actors.js';
import { isRecord, type Json } from '../../../protocol/values/json.js';
import { type Answer, answerToError, type Caller, lacks, refusal } from './callers.js';
import { MAX_EVENTS_BACK, type ReadLog, searchBack } from './log.js';
import { parseRunId, pendingToolCallOf } from './pending.js';

interface ResultOptions {
  readonly actor: StampedActor;
  readonly receivedAt: string;
  readonly requestId?: string;
}

/** The part of a conversation that the route uses. */
export interface ResultsConversation extends ReadLog {
  snapshot(): Promise<{ readonly agent: string; readonly pending: readonly PendingCall[] }>;
  resolve(toolCallId: string, resolution: Resolution, options: ResultOptions): Promise<Verdict>;
}

/** The part of `ConversationClient` that the route uses. */
export interface ResultsClient {
  conversation(id: string, options: { readonly tenant: string }): ResultsConversation;
}

/** The part of `SpaceClient` that the route uses. */
export interface CallSpaces {
  isMemberFor(
    call: {
      readonly tenant: string;
      readonly conversationId: string;
      readonly agent: string;
      readonly turnId: string;
      readonly step: number;
      readonly toolCallId: string;
    },
    personId: string,
  ): Promise<boolean | undefined>;
}

export interface ResultsDeps {
  readonly client: ResultsClient;
  /** False: the application has none. */
  readonly spaces: CallSpaces | false;
}

export const NOT_FOUND = refusal(404, 'Pending tool call not found');
const OTHER_RUN = refusal(403, 'Tool call does not belong to this run');
const RESOLVED = refusal(409, 'Tool call already resolved');
const NOT_A_MEMBER = refusal(403, 'Only members of the space answer this tool call');
const NOT_STORED = refusal(503, 'The tool call is not stored yet: try again');

const TOO_OLD = refusal(
  403,
  `The tool call was made more than ${MAX_EVENTS_BACK} events ago: answer it in its space or conversation`,
);
const MAX_KEY_CHARS = 200;

/** @throws errors that are not the client's own */
export async function submitResult(
  deps: ResultsDeps,
  request: Request,
  { caller, receivedAt }: { readonly caller: Caller; readonly receivedAt: string },
): Promise<Answer> {
  const body: Readonly<Record<string, unknown>> = isRecord(request.body) ? request.body : {};
  const { callId, result } = body;
  if (typeof callId !== 'string' || callId === '') return refusal(400, 'callId is required');
  const requestId = request.get('idempotency-key');
  if (requestId !== undefined && (requestId === '' || requestId.length > MAX_KEY_CHARS))
    return refusal(400, `Idempotency-Key must have 1 to ${MAX_KEY_CHARS} characters`);
  const run = parseRunId(String(request.params['runId']));
  if (run === undefined || (caller.conversation ?? run.conversationId) !== run.conversationId)
    return NOT_FOUND;
  const conversation = deps.client.conversation(run.conversationId, { tenant: caller.tenant });
  try {
    const call = await findCall(conversation, callId);
    if (call === undefined) return NOT_FOUND;
    if (call.turnId !== run.turnId) return OTHER_RUN;
    const made = { ...call, toolCallId: callId, conversationId: run.conversationId, conversation };
    const refused = await refusalOf(deps.spaces, caller, made);
    if (refused !== undefined) return refused;
    const value = (result ?? null) as Json;
    const verdict = await conversation.resolve(
      callId,
      { type: call.isAnswer ? 'answer' : 'result', value },
      { actor: caller.actor, receivedAt, ...(requestId === undefined ? {} : { requestId }) },
    );
    return answerTo(verdict, run.conversationId);
  } catch (error) {
    const answer = answerToError(error);
    if (answer === undefined) throw error;
    return answer.status === 404 ? NOT_FOUND : answer;
  }
}

function answerTo(verdict: Verdict, agentEntityId: string): Answer {
  const taken = { success: true, agentEntityId };
  switch (verdict.verdict) {
    case 'accepted':
    case 'accepted_late':
    case 'duplicate':
      return { status: 200, body: taken };
    // Durable, and judged by the next worker.
    case 'queued':
      return { status: 202, body: { ...taken, queued: true } };
    case 'stale':
    case 'expired':
      return RESOLVED;
    case 'forbidden':
      return refusal(403, 'The caller may not answer this tool call');
    case 'unknown':
      return NOT_FOUND;
    case 'invalid':
      return { status: 400, body: { error: 'The result is invalid', problems: verdict.problems } };
  }
}

interface FoundCall {
  readonly turnId: string;
  /** The agent that made the call. */
  readonly agent: string;
  readonly executor: Executor;
  /** A person answers the call. */
  readonly isAnswer: boolean;
  /** Absent for a call that waits: its place in the log has not been looked for. */
  readonly step?: number;
}

/** A call that is or was answered from outside; undefined when the conversation has none of this id. */
async function findCall(
  conversation: ResultsConversation,
  callId: string,
): Promise<FoundCall | undefined> {
  const { agent, pending } = await conversation.snapshot();
  const open = pending.find(({ toolCallId }) => toolCallId === callId);
  if (open === undefined) {
    const made = await madeCall(conversation, callId, agent);
    if (typeof made !== 'object') return undefined;
    return made.isAnswer || waitsOutside(made.executor) ? made : undefined;
  }
  // An approval is no result of a tool.
  if (pendingToolCallOf(open, '') === undefined) return undefined;
  const { turnId, kind, executor } = open;
  return { turnId, agent: open.agent ?? agent, executor, isAnswer: kind === 'elicitation' };
}

/**
 * Why the caller may not answer a call; undefined where it may. Workers of tools need the right `answer`. A call that a
 * space shows is answered by members of the space, except where another backend executes it; a call that a page runs,
 * by both.
 */
async function refusalOf(
  spaces: CallSpaces | false,
  { rights, tenant, actor }: Caller,
  call: FoundCall & {
    readonly toolCallId: string;
    readonly conversationId: string;
    readonly conversation: ResultsConversation;
  },
): Promise<Answer | undefined> {
  const { executor, isAnswer, conversation, conversationId, toolCallId, turnId } = call;
  const hasRight = rights.includes('answer');
  if (spaces === false || executor === 'external' || (hasRight && !isAnswer))
    return hasRight ? undefined : lacks('answer');
  const made =
    call.step === undefined ? await madeCall(conversation, toolCallId, call.agent) : call;
  if (made === 'not_stored') return NOT_STORED;
  if (made === 'too_old') return TOO_OLD;
  const { agent, step = 0 } = made;
  const place = { tenant, conversationId, agent, turnId, step, toolCallId };
  const isMember = await spaces.isMemberFor(place, actor.id);
  if (isMember === undefined) return hasRight ? undefined : lacks('answer');
  return isMember ? undefined : NOT_A_MEMBER;
}

/** Reads the log back to the plan of a call; `now` is the agent of the conversation. */
async function madeCall(
  conversation: ResultsConversation,
  callId: string,
  now: string,
): Promise<FoundCall | 'not_stored' | 'too_old'> {
  let agent = now;
  let isAsked = false;
  let made: FoundCall | undefined;
  const end = await searchBack(conversation, (event) => {
    if (event.type === 'agent_changed') agent = event.previous;
    // A question of a tool that a worker runs.
    if (event.type === 'suspension' && event.suspension.toolCallId === callId)
      isAsked ||= event.suspension.ask !== undefined;
    // In a sequential step the plan comes after the call itself, so it is found first.
    if (event.type !== 'tool_call' && event.type !== 'call_planned') return false;
    const { call, turnId, step } = event;
    if (call.toolCallId !== callId) return false;
    const { executor } = call;
    made = { turnId, step, agent, executor, isAnswer: executor === 'human' || isAsked };
    return true;
  });
  return made ?? (end === 'bound' ? 'too_old' : 'not_stored');
}
