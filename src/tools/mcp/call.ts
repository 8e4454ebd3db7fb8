/**
 * One call of a listed tool: sent, asked for, sent again with the answers. Nothing of it lives in this process between two runs, so
 * that any worker can go on. Runs in the worker.
 */

import { MAX_MCP_ROUNDS, MCP_HELD_SLACK_MS } from '../../define/mcp/limits.js';
import type { AnyMcpServer } from '../../define/mcp-server.js';
import { jsonSchema } from '../../define/schemas/schema.js';
import type { ToolContext } from '../../define/tool/context.js';
import { ToolError, toolError } from '../../define/tool/context.js';
import { ToolFiles, withFiles } from '../../define/tool/files.js';
import type { Effects } from '../../protocol/calls/executors.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { type HeldCalls, LiveCall } from './held.js';
import type { ListedTool } from './listed-tool.js';
import { PushedQuestions, type PushMode } from './pushed.js';
import { resultOf } from './results.js';
import type { CallRequest, McpConnection, OpenCall, Session } from './session/connection.js';
import {
  ConnectionLost,
  callFailure,
  isSessionGone,
  reasonIn,
  ServerUnreachable,
} from './session/failures.js';
import {
  type AskedState,
  type ElicitAnswer,
  type ElicitRequest,
  type HeldPlace,
  openFirst,
  questionOf,
  requestOf,
  requestsOf,
  settledState,
} from './session/questions.js';

export interface Callee {
  readonly server: AnyMcpServer;
  readonly connection: McpConnection;
  readonly tool: ListedTool;
  readonly effects: Effects;
  /** Where calls are held that wait for an answer. Absent: nowhere. */
  readonly held?: HeldCalls | undefined;
  /** How long an answer may take, by the plan of the call. */
  readonly answerMs: number;
  /** Keeps the connection beyond the run, until it is released. */
  readonly lease: () => { readonly release: () => void };
}

type Keyed = readonly (readonly [key: string, request: ElicitRequest])[];

type Result = Json | ToolError | ToolFiles<Json>;

/** What ends a round: a result, or what has to be asked before there can be one. */
type RoundEnd =
  | { readonly result: Result }
  | {
      readonly ask: Keyed;
      readonly kind: AskedState['kind'];
      readonly requestState?: string;
      readonly held?: HeldPlace;
    }
  | { readonly again: string }
  | { readonly problem: string };

/** The server's form was pinned with the question, and has judged the answer; this code has none of its own. */
const AS_ASKED = jsonSchema<Json>({});

type Before = ReturnType<typeof settledState>;

/**
 * What a tool's `run` does: returns the result as the model reads it.
 * @throws {ToolError} what the server, or the engine on its behalf, tells the model
 * @throws {ToolRetry} when the server could not be reached, or the call may be sent twice
 * @throws {ConnectionLost} when nobody knows what became of the call
 * @throws what `ctx.ask` throws
 */
export async function callListedTool(
  callee: Callee,
  input: unknown,
  ctx: ToolContext<never>,
): Promise<unknown> {
  const { server, connection } = callee;
  const answer = await ctx.answerTo(AS_ASKED);
  const before = ctx.asks === 0 ? undefined : settledState(ctx.state, { answer });
  if (ctx.asks > 0 && before === undefined)
    return toolError(`MCP server "${server.name}": what the call was waiting with cannot be read`);
  // Several requests of one answer are put one after the other; the server hears of all of them together.
  if (before !== undefined && before.waiting.length > 0)
    ask(callee, ctx, { ...before, requests: before.waiting });
  const given = isRecord(input) ? input : {};
  let request: CallRequest = { name: callee.tool.name, arguments: given, ...responsesOf(before) };
  for (let round = 1; round <= MAX_MCP_ROUNDS; round += 1) {
    const end = await (before?.held === undefined
      ? oneRound(callee, { request, before }, ctx)
      : goOn(callee, { ...before, held: before.held }, ctx));
    if ('result' in end) return withoutSecrets(connection, end.result);
    if ('problem' in end) {
      const { problem } = end;
      ctx.logger.warn('MCP server cannot be answered', { mcpServer: server.name, problem });
      return toolError(`MCP server "${server.name}" cannot be answered: ${problem}`);
    }
    if ('ask' in end)
      ask(callee, ctx, { ...end, requests: end.ask, answered: earlierPushes(end.kind, before) });
    else request = { ...request, inputResponses: {}, requestState: end.again };
  }
  return toolError(`MCP server "${server.name}" asked for the same call again and again`);
}

function withoutSecrets({ secrets }: McpConnection, result: Result): Result {
  if (result instanceof ToolError) return toolError(secrets.text(result.message));
  // Bytes are as they are: what stands in an image is no text.
  if (result instanceof ToolFiles) return withFiles(secrets.json(result.result), result.files);
  return secrets.json(result);
}

function responsesOf(before: Before): Pick<CallRequest, 'inputResponses' | 'requestState'> {
  if (before?.kind !== 'resume') return {};
  const { answered, requestState } = before;
  return {
    inputResponses: Object.fromEntries(answered),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

/** Answers to pushed questions are needed at every replay; those of other kinds the server has had. */
function earlierPushes(kind: AskedState['kind'], before: Before): AskedState['answered'] {
  return kind === 'replay' && before?.kind === 'replay' ? before.answered : [];
}

/** Ends the run. */
function ask(
  { server }: Callee,
  ctx: ToolContext<never>,
  state: Pick<AskedState, 'kind' | 'answered' | 'held'> & {
    readonly requests: Keyed;
    readonly requestState?: string;
  },
): never {
  const opened = openFirst(state.requests, state);
  if (opened === undefined) throw new TypeError('unreachable: nothing to ask');
  const { form, reason } = questionOf(server.name, opened.request);
  // A refusal is an answer, too: what follows from it is for the server to say.
  return ctx.ask({ form: { jsonSchema: form }, reason, state: opened.state, onDecline: 'enter' });
}

async function oneRound(
  callee: Callee,
  round: { readonly request: CallRequest; readonly before: Before },
  ctx: ToolContext<never>,
): Promise<RoundEnd> {
  const { before, request } = round;
  const answers: ReadonlyMap<string, ElicitAnswer> = new Map(
    before?.kind === 'replay' ? before.answered : [],
  );
  const pushed = new PushedQuestions(answers, pushModeOf(callee));
  const call = new LiveCall(pushed, (means) => send(callee, request, { ...means, pushed }));
  return await roundEnd(callee, call, ctx);
}

/** Gives a held call its answer. @throws {ConnectionLost} where this worker does not have it, or no more */
async function goOn(
  callee: Callee,
  before: Pick<AskedState, 'answered'> & { readonly held: HeldPlace },
  ctx: ToolContext<never>,
): Promise<RoundEnd> {
  const call = callee.held?.take(before.held.id);
  const answer = before.answered.at(-1)?.[1];
  if (call === undefined || answer === undefined)
    throw new ConnectionLost(
      `MCP server "${callee.server.name}": the call was lost with its worker`,
    );
  call.pushed.settle(answer);
  return await roundEnd(callee, call, ctx);
}

async function roundEnd(
  callee: Callee,
  call: LiveCall,
  ctx: ToolContext<never>,
): Promise<RoundEnd> {
  const { pushed } = call;
  try {
    const end = await call.under(ctx);
    if (end !== 'asked') return endOf(end.answer, pushed.unasked, callee);
  } catch (error) {
    // A call that was given up for a question ends so.
    const { open } = pushed;
    if (open === undefined || pushed.mode === 'hold') return failureEnd(callee, error);
    return { ask: [open], kind: 'replay' };
  }
  const { open } = pushed;
  if (open === undefined)
    throw new TypeError('unreachable: a server waits for an answer to nothing');
  const held = await callee.held?.keep(call, callee.answerMs + MCP_HELD_SLACK_MS);
  // A run that has ended meanwhile asks nobody any more.
  if (held !== undefined && !ctx.signal.aborted) {
    const { release } = callee.lease();
    call.answer.finally(release).catch(() => undefined);
    return { ask: [open], kind: 'held', held };
  }
  if (held !== undefined) callee.held?.take(held.id);
  pushed.giveUp();
  return await roundEnd(callee, call, ctx);
}

/** A call that must not run twice is held where that is possible. */
function pushModeOf({ server, effects, held }: Callee): PushMode {
  const { pushedQuestions = effects === 'once' ? 'hold' : 'ask' } = server.spec;
  return pushedQuestions === 'hold' && held === undefined ? 'cancel' : pushedQuestions;
}

function endOf(answer: unknown, unasked: readonly string[], { connection }: Callee): RoundEnd {
  const clean = (text: string): string => connection.secrets.text(text);
  if (!isRecord(answer) || answer['resultType'] !== 'input_required')
    return { result: resultOf(answer, unasked, clean) };
  const { requestState } = answer;
  const requests = requestsOf(answer['inputRequests']);
  if ('problem' in requests) return requests;
  const state = typeof requestState === 'string' ? { requestState } : {};
  if (requests.length > 0) return { ask: requests, kind: 'resume', ...state };
  return typeof requestState === 'string'
    ? { again: requestState }
    : { problem: 'it wants input and does not say which' };
}

/** Servers of before 2026-07-28 refuse a call until a page was visited; which one is in the error. */
const URL_ELICITATION_REQUIRED = -32042;

function failureEnd({ server, connection, effects }: Callee, error: unknown): RoundEnd {
  const data = isRecord(error) && error['code'] === URL_ELICITATION_REQUIRED ? error['data'] : {};
  const elicitations = isRecord(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(elicitations) || elicitations.length === 0) {
    const clean = (text: string): string => connection.secrets.text(text);
    throw callFailure(error, { server: server.name, effects, clean });
  }
  const requests: (readonly [string, ElicitRequest])[] = [];
  for (const [index, params] of (elicitations as readonly unknown[]).entries()) {
    const request = requestOf(params);
    if ('problem' in request) return request;
    requests.push([String(index), request]);
  }
  return { ask: requests, kind: 'retry' };
}

interface Sending {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Json) => void;
  readonly pushed: OpenCall;
}

async function send(
  callee: Callee,
  request: CallRequest,
  { pushed, ...means }: Sending,
): Promise<unknown> {
  const { connection, tool } = callee;
  const all = { ...means, definition: tool.definition, openCall: pushed };
  const session = await sessionOf(callee);
  try {
    return await connection.call(session, request, all);
  } catch (error) {
    if (!isSessionGone(error)) throw error;
    // A server that was restarted has forgotten the session, and has not looked at the call.
    await connection.drop(session);
    return await connection.call(await sessionOf(callee), request, all);
  }
}

async function sessionOf({ connection }: Callee): Promise<Session> {
  try {
    return await connection.session();
  } catch (error) {
    // Whatever it was, the call was not sent; refused credentials speak for themselves.
    if (isRecord(error) && isRecord(error['data'])) throw error;
    if (error instanceof Error && error.name === 'UnauthorizedError') throw error;
    throw new ServerUnreachable(reasonIn(error, (text) => connection.secrets.text(text)));
  }
}
