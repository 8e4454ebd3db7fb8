/** A result of a tool: finds the call of the run, and resolves it by the public client. Runs in Node. */
import type { Request } from 'express';
import { waitsOutside } from '../../../protocol/calls/executors.js';
import type { Resolution, Verdict } from '../../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../../protocol/calls/suspensions.js';
import type { CanonicalEvent } from '../../../protocol/log/events.js';
import type { StampedActor } from '../../../protocol/values/actors.js';
import type { LogCursor } from '../../../protocol/values/cursor.js';
import { isRecord, type Json } from '../../../protocol/values/json.js';
import { type Answer, answerToError, type Caller, refusal } from './callers.js';
import { parseRunId, pendingToolCallOf } from './pending.js';

interface Page {
  readonly events: readonly CanonicalEvent[];
  readonly cursor: LogCursor;
  readonly more: boolean;
}

interface ResultOptions {
  readonly actor: StampedActor;
  readonly receivedAt: string;
  readonly requestId?: string;
}

/** The part of a conversation that the route uses. */
export interface ResultsConversation {
  snapshot(): Promise<{ readonly pending: readonly PendingCall[] }>;
  events(options: { readonly before: LogCursor | 'end'; readonly limit: number }): Promise<Page>;
  resolve(toolCallId: string, resolution: Resolution, options: ResultOptions): Promise<Verdict>;
}

/** The part of `ConversationClient` that the route uses. */
export interface ResultsClient {
  conversation(id: string, options: { readonly tenant: string }): ResultsConversation;
}

export const NOT_FOUND = refusal(404, 'Pending tool call not found');
const OTHER_RUN = refusal(403, 'Tool call does not belong to this run');
const RESOLVED = refusal(409, 'Tool call already resolved');

const PAGE_EVENTS = 200;
/** A call that was made further back than these pages is not found. */
const MAX_PAGES = 50;
const MAX_KEY_CHARS = 200;

/** @throws errors that are not the client's own */
export async function submitResult(
  client: ResultsClient,
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
  const conversation = client.conversation(run.conversationId, { tenant: caller.tenant });
  try {
    const call = await findCall(conversation, callId);
    if (call === undefined) return NOT_FOUND;
    if (call.turnId !== run.turnId) return OTHER_RUN;
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
  /** A person answers the call. */
  readonly isAnswer: boolean;
}

/** A call that is or was answered from outside; undefined when the conversation has none of this id. */
async function findCall(
  conversation: ResultsConversation,
  callId: string,
): Promise<FoundCall | undefined> {
  const { pending } = await conversation.snapshot();
  const open = pending.find(({ toolCallId }) => toolCallId === callId);
  if (open === undefined) return await endedCall(conversation, callId);
  // An approval is no result of a tool.
  if (pendingToolCallOf(open, '') === undefined) return undefined;
  return { turnId: open.turnId, isAnswer: open.kind === 'elicitation' };
}

async function endedCall(
  conversation: ResultsConversation,
  callId: string,
): Promise<FoundCall | undefined> {
  let before: LogCursor | 'end' = 'end';
  for (let read = 0; read < MAX_PAGES; read += 1) {
    const page: Page = await conversation.events({ before, limit: PAGE_EVENTS });
    for (const event of page.events) {
      // Newest first: in a sequential step the plan comes after the call itself.
      if (event.type !== 'tool_call' && event.type !== 'call_planned') continue;
      const { call, turnId } = event;
      if (call.toolCallId !== callId) continue;
      return waitsOutside(call.executor)
        ? { turnId, isAnswer: call.executor === 'human' }
        : undefined;
    }
    if (!page.more) return undefined;
    before = page.cursor;
  }
  return undefined;
}
