/**
 * One call of a listed tool: sends it, asks the server's questions, sends it again with the answers. Its state is not
 * kept in this process between two runs, so any worker can continue it. Runs in the worker.
 */

import { MAX_MCP_ROUNDS, MCP_HELD_SLACK_MS } from '../../define/mcp/limits.js';
import type { AnyMcpServer } from '../../define/mcp/server.js';
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
  /** Keeps calls that wait for an answer. Absent: none can be held. */
  readonly held?: HeldCalls | undefined;
  /** Time limit for an answer in milliseconds, by the plan of the call. */
  readonly answerMs: number;
  /** Keeps the connection beyond the run, until it is released. */
  readonly lease: () => { readonly release: () => void };
}

type Keyed = readonly (readonly [key: string, request: ElicitRequest])[];

type Result = Json | ToolError | ToolFiles<Json>;

/** The end of a round: a result, or a question that has to be answered first. */
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

/** The server's form was pinned with the question and has judged the answer, so no schema is needed here. */
const AS_ASKED = jsonSchema<Json>({});

type Before = ReturnType<typeof settledState>;

/**
 * The `run` of a listed tool: returns the result for the model.
 * @throws {ToolError} the error for the model, of the server or of the engine on its behalf
 * @throws {ToolRetry} when the server could not be reached, or the call may be sent twice
 * @throws {ConnectionLost} when the outcome of the call is unknown
 * @throws the error of `ctx.ask`
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
    return toolError(`MCP server "${server.name}": the stored state of the call cannot be read`);
  // Several requests of one response are asked one after the other; the server receives all answers together.
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
  // Bytes stay as they are: redaction applies to text only.
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

/** A replay needs the answers to all pushed questions; for other kinds the server already has them. */
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
  // A refusal is an answer as well, and the server decides what follows.
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
  const call = new LiveCall(pushed, (deps) => send(callee, request, { ...deps, pushed }));
  return await roundEnd(callee, call, ctx);
}

/** Gives a held call its answer. @throws {ConnectionLost} when this worker does not hold it, or no longer */
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
    // A call that was given up for a question ends with an error.
    const { open } = pushed;
    if (open === undefined || pushed.mode === 'hold') return failureEnd(callee, error);
    return { ask: [open], kind: 'replay' };
  }
  const { open } = pushed;
  if (open === undefined)
    throw new TypeError('unreachable: a server waits for an answer to nothing');
  const held = await callee.held?.keep(call, callee.answerMs + MCP_HELD_SLACK_MS);
  // A run that has ended meanwhile must not ask.
  if (held !== undefined && !ctx.signal.aborted) {
    const { release } = callee.lease();
    call.answer.finally(release).catch(() => undefined);
    return { ask: [open], kind: 'held', held };
  }
  if (held !== undefined) callee.held?.take(held.id);
  pushed.giveUp();
  return await roundEnd(callee, call, ctx);
}

/** A call that must not run twice is held if possible. */
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
    : { problem: 'it wants input and does not name it' };
}

/** Servers before 2026-07-28 refuse a call until the user has visited a page, which the error names. */
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
  { pushed, ...deps }: Sending,
): Promise<unknown> {
  const { connection, tool } = callee;
  const all = { ...deps, definition: tool.definition, openCall: pushed };
  const session = await sessionOf(callee);
  try {
    return await connection.call(session, request, all);
  } catch (error) {
    if (!isSessionGone(error)) throw error;
    // A restarted server has forgotten the session, and has not read the call.
    await connection.drop(session);
    return await connection.call(await sessionOf(callee), request, all);
  }
}

async function sessionOf({ connection }: Callee): Promise<Session> {
  try {
    return await connection.session();
  } catch (error) {
    // The request never left this process. Credential errors keep their own code.
    if (isRecord(error) && isRecord(error['data'])) throw error;
    if (error instanceof Error && error.name === 'UnauthorizedError') throw error;
    throw new ServerUnreachable(reasonIn(error, (text) => connection.secrets.text(text)));
  }
}
