/**
 * `agentTransport`: a turn of a conversation as one request and one response. A turn that needs the client comes back as
 * a continuation, and its results as the next request. Runs anywhere.
 */
import type {
  BatchResult,
  BatchVerdict,
  StepContinuation,
  StepToolCall,
} from '../../protocol/calls/batches.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot, TurnResult } from '../../protocol/conversation/conversation.js';
import type { Actor } from '../../protocol/values/actors.js';
import { stepIdFor } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import {
  type AgentToolCall,
  type ErrorMessage,
  failed,
  type InvokeResult,
  succeeded,
} from './calls.js';

/** Either a message of the user, or the results of the calls of a continuation. */
export interface AgentExecuteRequest {
  /** Id of the conversation. */
  readonly sessionId: string;
  /** A repeat with the same id is the same request. */
  readonly requestId?: string;
  readonly actor?: Actor;
  /** The message of the user. */
  readonly instruction?: string;
  /** With `toolResultsJson`: the turn that has asked for them. */
  readonly turnId?: string;
  /** JSON of a list of `{toolCallId, resultJson | errorMessage, executionMs?}`: one for each call that requires the client, in their order. */
  readonly toolResultsJson?: string;
}

/** `final` has no calls; a continuation has at least one that requires the client, and no text. */
export type AgentExecuteResponse =
  | {
      readonly kind: 'final';
      readonly sessionId: string;
      readonly turnId: string;
      readonly text: string;
      readonly usage: Extract<TurnResult, { status: 'completed' }>['usage'];
    }
  | {
      readonly kind: 'client_tool_continuation';
      readonly sessionId: string;
      readonly turnId: string;
      /** All calls of the step, in the model's order. */
      readonly toolCalls: readonly AgentToolCall[];
    };

interface Sending {
  readonly requestId?: string;
  readonly actor?: Actor;
}

interface ResultOptions {
  readonly timeout?: number;
}

/** A message; no worker may have taken it yet. */
interface Sent {
  result(options?: ResultOptions): Promise<TurnResult<unknown> | { readonly status: 'queued' }>;
}

/** The part of `ConversationClient` that the transport uses. */
export interface TransportClient {
  conversation(
    id: string,
    options: { readonly agent: string },
  ): {
    send(text: string, options: Sending): Promise<Sent>;
    snapshot(): Promise<Pick<ConversationSnapshot, 'turn'>>;
    step(stepId: string): Promise<StepContinuation>;
    resolveBatch(
      stepId: string,
      results: readonly BatchResult[],
      options: Sending,
    ): Promise<BatchVerdict>;
  };
  turn(id: string, turnId: string): Sent;
}

export interface TransportOptions {
  /** The agent of new conversations. */
  readonly agent: string;
  /** Milliseconds until a turn that still works is reported as `timeout`. @defaultValue the client's own */
  readonly timeoutMs?: number;
}

export interface AgentTransport {
  /** Never throws: failures are in the result. Safe to repeat with the same `requestId`. */
  execute(request: AgentExecuteRequest): Promise<InvokeResult<AgentExecuteResponse>>;
}

/** Steps without calls, one after the other, behind which the turn is taken to have no more. */
const MAX_MISSES = 20;

export function agentTransport(
  client: TransportClient,
  { agent, timeoutMs }: TransportOptions,
): AgentTransport {
  const waiting = timeoutMs === undefined ? {} : { timeout: timeoutMs };
  return {
    execute: async (request) => {
      const problem = problemOf(request);
      if (problem !== undefined) return failed(problem);
      const { sessionId, instruction } = request;
      try {
        const conversation = client.conversation(sessionId, { agent });
        let turn: Sent;
        if (instruction === undefined) {
          const refused = await handIn(conversation, request);
          if (refused !== undefined) return refused;
          turn = client.turn(sessionId, request.turnId ?? '');
        } else turn = await conversation.send(instruction, sendingOf(request));
        return await responseOf(conversation, sessionId, await turn.result(waiting));
      } catch (error) {
        return failed(errorOf(error));
      }
    },
  };
}

/** The rule that a request breaks. */
function problemOf(request: AgentExecuteRequest): ErrorMessage | undefined {
  const { sessionId, instruction, toolResultsJson, turnId } = request;
  const invalid = (path: string, rule: string): ErrorMessage => ({
    ...{ errorCode: 'invalid_request', path, message: `${path} ${rule}` },
  });
  if (typeof sessionId !== 'string' || sessionId === '')
    return invalid('/sessionId', 'must be a non-empty text');
  if (instruction !== undefined && toolResultsJson !== undefined)
    return invalid('/toolResultsJson', 'cannot be given together with instruction');
  if (instruction === undefined && toolResultsJson === undefined)
    return invalid('/instruction', 'or toolResultsJson must be given');
  if (instruction !== undefined && turnId !== undefined)
    return invalid('/turnId', 'is for tool results; a message begins a turn of its own');
  if (toolResultsJson !== undefined && (turnId === undefined || turnId === ''))
    return invalid('/turnId', 'must be the turn that has asked for the results');
  return toolResultsJson === undefined || resultsOf(toolResultsJson) !== undefined
    ? undefined
    : invalid(
        '/toolResultsJson',
        'must be JSON of a list of at least one {toolCallId, resultJson or errorMessage}',
      );
}

function resultsOf(json: string): readonly BatchResult[] | undefined {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) && parsed.length > 0 && parsed.every(isRecord)
      ? (parsed as unknown as readonly BatchResult[])
      : undefined;
  } catch {
    return undefined;
  }
}

type Conversation = ReturnType<TransportClient['conversation']>;

/** Undefined when the results are taken, now or by an earlier request of this id. */
async function handIn(
  conversation: Conversation,
  request: AgentExecuteRequest,
): Promise<InvokeResult<never> | undefined> {
  const { turnId = '', toolResultsJson = '' } = request;
  const results = resultsOf(toolResultsJson) ?? [];
  const found = await stepOf(conversation, turnId, results);
  if ('refusal' in found) return failed(found.refusal);
  const { stepId } = found;
  const verdict = await conversation.resolveBatch(stepId, results, sendingOf(request));
  if (verdict.verdict === 'accepted' || verdict.verdict === 'duplicate') return undefined;
  const faults = 'faults' in verdict ? verdict.faults : [];
  const [first, ...rest] = faults.map(({ path, message }) => ({
    ...{ errorCode: verdict.verdict, path, message },
  }));
  return first === undefined
    ? failed({
        errorCode: verdict.verdict,
        message: `The results were not taken: ${verdict.verdict}`,
      })
    : failed(first, ...rest);
}

/**
 * The step of the turn that has made these calls: the present one, unless the request is repeated. Results of no call of
 * the turn are refused: by the present step, if that waits for others, whose order the refusal then names.
 */
async function stepOf(
  conversation: Conversation,
  turnId: string,
  results: readonly BatchResult[],
): Promise<{ readonly stepId: string } | { readonly refusal: ErrorMessage }> {
  const { turn } = await conversation.snapshot();
  const ids = new Set(results.map(({ toolCallId }) => toolCallId));
  let [hasCalls, isWaiting] = [false, false];
  /** Undefined for a step that has made no calls, as one of text alone, and for none. */
  const has = async (stepId: string): Promise<boolean | undefined> => {
    try {
      const { toolCalls } = await conversation.step(stepId);
      hasCalls ||= toolCalls.length > 0;
      isWaiting ||= toolCalls.some((call) => call.requiresClientExecution);
      return toolCalls.some(({ toolCallId }) => ids.has(toolCallId));
    } catch (error) {
      if (errorOf(error).errorCode === 'unknown_step') return undefined;
      throw error;
    }
  };
  const isPresent = turn?.turnId === turnId;
  if (isPresent && (await has(turn.stepId)) === true) return { stepId: turn.stepId };
  let misses = 0;
  for (let step = 1; isPresent ? step <= turn.step : misses < MAX_MISSES; step += 1) {
    const stepId = stepIdFor(turnId, step);
    const found = await has(stepId);
    if (found === true) return { stepId };
    misses = found === undefined ? misses + 1 : 0;
  }
  if (isPresent && isWaiting) return { stepId: turn.stepId };
  return { refusal: hasCalls ? strangerOf(turnId, results) : staleOf(turnId) };
}

function staleOf(turnId: string): ErrorMessage {
  return { errorCode: 'stale', message: `No call of turn ${turnId} requires the client` };
}

/** The refusal of results none of which belongs to a call of the turn. */
function strangerOf(turnId: string, results: readonly unknown[]): ErrorMessage {
  const ids = results.map((result) => (isRecord(result) ? result['toolCallId'] : undefined));
  const faulty = ids.findIndex((id) => typeof id !== 'string' || id === '');
  return faulty === -1
    ? { errorCode: 'unknown', message: `Turn ${turnId} has no call ${String(ids[0])}` }
    : {
        ...{ errorCode: 'invalid', path: `/results/${faulty}/toolCallId` },
        message: 'must be the id of a call',
      };
}

async function responseOf(
  conversation: Conversation,
  sessionId: string,
  result: TurnResult<unknown> | { readonly status: 'queued' },
): Promise<InvokeResult<AgentExecuteResponse>> {
  if (result.status === 'queued')
    return failed({
      errorCode: 'no_worker',
      message: 'No worker has taken the message yet: repeat the request',
    });
  const { turnId } = result;
  switch (result.status) {
    case 'completed': {
      const { text, usage } = result;
      return succeeded({ kind: 'final', sessionId, turnId, text, usage });
    }
    case 'waiting': {
      const { turn } = await conversation.snapshot();
      const isForClient = result.pending.some(({ kind }) => kind === 'client_execution');
      if (!isForClient || turn?.turnId !== turnId) return failed(...others(result.pending));
      const { toolCalls } = await conversation.step(turn.stepId);
      return succeeded({
        kind: 'client_tool_continuation',
        ...{ sessionId, turnId },
        toolCalls: toolCalls.map(callOf),
      });
    }
    case 'failed':
      return failed({ errorCode: result.error.code, message: result.error.message });
    case 'cancelled':
      return failed({ errorCode: 'cancelled', message: 'The turn was cancelled' });
    case 'timeout':
      return failed({
        errorCode: 'timeout',
        message: `Turn ${turnId} still works: repeat the request`,
      });
  }
}

/** Calls that people answer are no part of this protocol: `resolve` answers them, and a repeated request goes on. */
function others(pending: readonly PendingCall[]): [ErrorMessage, ...ErrorMessage[]] {
  const [first, ...rest] = pending.map(({ name, kind, toolCallId }) => ({
    errorCode: 'awaiting_input',
    message: `Call ${toolCallId} of "${name}" waits (${kind}): answer it, and repeat the request`,
  }));
  return [first ?? { errorCode: 'awaiting_input', message: 'The turn waits' }, ...rest];
}

function callOf(call: StepToolCall): AgentToolCall {
  const { toolCallId, name, argumentsJson, isServerTool, wasExecuted } = call;
  const { requiresClientExecution, preparedPayload, resultJson, errorMessage, status } = call;
  const result =
    resultJson ?? (preparedPayload === undefined ? undefined : JSON.stringify(preparedPayload));
  return {
    ...{
      toolCallId,
      toolName: name,
      argumentsJson,
      isServerTool,
      wasExecuted,
      requiresClientExecution,
    },
    status: status ?? 'pending',
    ...(result === undefined ? {} : { resultJson: result }),
    ...(errorMessage === undefined ? {} : { errorMessage }),
  };
}

function sendingOf({ requestId, actor }: AgentExecuteRequest): Sending {
  return {
    ...(requestId === undefined ? {} : { requestId }),
    ...(actor === undefined ? {} : { actor }),
  };
}

function errorOf(error: unknown): ErrorMessage {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return { message, ...(typeof code === 'string' ? { errorCode: code } : {}) };
}
