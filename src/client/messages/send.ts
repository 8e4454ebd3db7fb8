/**
 * Sends a message: starts or continues the conversation in one call, confirmed by an update, else durable as a signal
 * with the same ids.
 *
 * I1 Every refusal that needs no workflow comes before the call of Temporal.
 * I2 The request id is created before the first try, and every try of one call carries it.
 * I3 A message that finds no place beside others is refused, not left as a signal: no run is started for it.
 * I4 A closed conversation is never started again by accident: only by `reopen`, or when none of its runs admitted
 * anything. A run that is started by `reopen` restores the state itself, and then judges the message.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type {
  ConversationSnapshot,
  SendMessageInput,
  SendMessageReply,
} from '../../protocol/conversation/conversation.js';
import { FAILURES, isFailureCode } from '../../protocol/failures/failures.js';
import type { MessageRefused } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import type { NotReopened } from '../../protocol/workflow/messaging.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { ConversationError, fieldOf } from '../api/errors.js';
import type { RequestKind } from '../pacing/admission.js';
import type { ConversationReader, LogCursor } from '../ports/reader.js';
import { LOG_DEADLINE_MS } from '../reading/ended-calls.js';
import { allEvents, findMessage } from '../reading/log-search.js';
import type { ReadYourWrites } from '../reading/read-your-writes.js';
import type { SignalTrace, Trace } from '../reading/signal-outcome.js';
import { isClosedRun, refusalOf } from '../temporal/errors.js';
import { isOpenRun } from '../temporal/executions.js';
import type { StartPolicy, StartRequest } from '../temporal/start-options.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import { within } from '../temporal/waiting.js';

export interface SendRequest {
  readonly key: ConversationKey;
  readonly manifest: AgentManifest;
  readonly input: SendMessageInput & { readonly requestId: string };
  readonly updateId: string;
  readonly reopen: boolean;
  /** Longest wait for a place while others are answered. */
  readonly busyMs: number;
}

interface Admitted<Reply> {
  readonly status: 'admitted';
  readonly reply: Reply;
  readonly duplicate: boolean;
}

export type SendReply =
  | Admitted<SendMessageReply>
  /** `after`: the end of the log before the signal was left, if the log was read in time. */
  | { readonly status: 'queued'; readonly after?: LogCursor | undefined };

export interface SendParts {
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
  /** The event log, if there is one: it has conversations that Temporal has forgotten. */
  readonly log: ConversationReader | undefined;
}

/** A run may close or change between two reads of it: a few rounds settle which. */
export const MAX_ROUNDS = 4;
/**
 * Milliseconds for which a message that opens a conversation again waits for the run that is closing: such a run refuses
 * messages until its last task has completed.
 */
const REOPEN_MS = 4_000;
const ROUND_PAUSE_MS = 50;
const LONGEST_ROUND_PAUSE_MS = 600;
export const FRESH: StartPolicy = { reuse: 'REJECT_DUPLICATE' };

/**
 * Unique per call, so that the server's own memory of update ids does not hide a repeat: the workflow recognises the
 * request id and returns `duplicate`. Constant within the call, so that its tries are one update.
 */
export function messageUpdateId(requestId: string, actorId: string | undefined): string {
  return updateIdFor({
    operation: 'sendMessage',
    ...(actorId === undefined ? {} : { actor: actorId }),
    requestId: `${requestId}~${randomUUID()}`,
  });
}

/** @throws {ConversationError} with the code of the refusal; temporal_unreachable when not even a signal could be left. */
export async function sendMessage(
  parts: SendParts & { readonly known: ReadYourWrites },
  request: SendRequest,
): Promise<SendReply> {
  if (parts.known.of(request.key) > 0) {
    const reply = await tryToContinue(parts, request);
    if (reply !== undefined) return reply;
  }
  const logged = await stateInLog(parts, request);
  const again = (): Promise<StartPolicy | SendReply> =>
    startAgain(parts, request, () => findMessage(parts.reader, request.key, request.input));
  let start = logged === 'closed' ? await again() : FRESH;
  const kind = logged === 'absent' ? 'beginning' : 'message';
  const waitUntil = request.reopen ? Date.now() + REOPEN_MS * parts.gateway.patience() : 0;
  // The server repeats a refusal that is in the history of a closed run to an update with the same id.
  let sent = renewed(request);
  for (let round = 1; ; round += 1) {
    if ('status' in start) return start;
    try {
      return await tryOnce(parts, { ...sent, start }, kind);
    } catch (error) {
      const reply = duplicateOf(error);
      if (reply !== undefined) return { status: 'admitted', reply, duplicate: true };
      if (!mayStartAgain(error, request)) throw parts.gateway.toConversationError(error);
      if (round >= MAX_ROUNDS && Date.now() >= waitUntil)
        throw request.reopen
          ? stillClosing(request.key, error)
          : parts.gateway.toConversationError(error);
    }
    if (round > 1) await sleep(Math.min(ROUND_PAUSE_MS * round, LONGEST_ROUND_PAUSE_MS));
    start = await again();
    sent = renewed(request);
  }
}

/**
 * The request as a signal, whose sender gets no reply: a message that would be rejected because a turn runs waits
 * instead.
 */
export function asQueued<Request extends { readonly input: SendMessageInput }>(
  request: Request,
): Request {
  const { input } = request;
  return input.onBusy === undefined
    ? { ...request, input: { ...input, onBusy: 'queue', ifRejected: true } }
    : request;
}

/** Finds the refusal of a message that arrived as a signal; a later message of the same id may have been accepted. */
export function refusalTrace(requestId: string): Trace<MessageRefused> {
  return (found, event) => {
    if (!('requestId' in event) || event.requestId !== requestId) return found;
    if (event.type === 'message_refused') return event.request === undefined ? event : found;
    return event.type === 'user_message' ? undefined : found;
  };
}

/** The request as another update. */
function renewed(request: SendRequest): SendRequest {
  const { requestId, actor } = request.input;
  return { ...request, updateId: messageUpdateId(requestId, actor?.id) };
}

/** True when a run that reopens the conversation could not restore its state, and may do so later, or never. */
function isNotReopened(error: unknown, reopened: NotReopened['reopened']): boolean {
  const detail = refusalOf(error)?.detail;
  return isRecord(detail) && detail['reopened'] === reopened;
}

function refusedError({ code }: MessageRefused): ConversationError {
  const known = isFailureCode(code) ? code : 'internal';
  const { title } = FAILURES[known];
  return new ConversationError(known, `A worker refused the message: ${title}`);
}

/**
 * Reads the reply of a message that was left as a signal, by an update with the same request id, which makes it one
 * message. Undefined while no worker answers.
 */
export async function confirmMessage(
  parts: SendParts & { readonly trace: SignalTrace<MessageRefused> },
  request: SendRequest,
  budgetMs: number,
): Promise<SendReply | undefined> {
  const { gateway, reader, trace } = parts;
  const { key, input, updateId } = request;
  const deadline = Date.now() + budgetMs;
  try {
    // A recorded refusal is final: an update could make the same message a new one. A refusal that was only counted,
    // not recorded, was reported to no caller: the update lets the conversation judge the message by its present state.
    const traced = await trace.find();
    if (traced.found !== undefined) throw refusedError(traced.found);
    if (traced.away) return undefined;
    const tried = await gateway.confirm(
      () => gateway.update(key, 'sendMessage', { input, updateId }),
      { key, budgetMs },
    );
    return tried.confirmed
      ? { status: 'admitted', reply: tried.value, duplicate: false }
      : undefined;
  } catch (error) {
    const reply = duplicateOf(error);
    if (reply !== undefined) return { status: 'admitted', reply, duplicate: false };
    // The server would repeat the refusal of this update; the message still waits in the run.
    if (isNotReopened(error, 'later'))
      return await confirmMessage(parts, renewed(request), Math.max(0, deadline - Date.now()));
    if (!isClosedRun(error)) throw gateway.toConversationError(error);
    const logged = await findMessage(reader, key, input);
    if (logged !== undefined) return { status: 'admitted', reply: logged, duplicate: false };
    throw closed(key, error);
  }
}

/**
 * Continues a conversation that this process used a moment ago: the conversation exists, so no read is needed, and a
 * plain update costs the server less than one that could start it. Undefined when it no longer exists, or is closed.
 */
async function tryToContinue(
  parts: SendParts,
  request: SendRequest,
): Promise<SendReply | undefined> {
  const { gateway } = parts;
  const { key, input, updateId, busyMs } = request;
  try {
    const tried = await gateway.confirm(
      () => gateway.update(key, 'sendMessage', { input, updateId }),
      { key, busyMs },
    );
    if (tried.confirmed) return { status: 'admitted', reply: tried.value, duplicate: false };
    refuseWhereBusy(tried.cause);
    return await leave(parts, { ...request, start: FRESH });
  } catch (error) {
    const reply = duplicateOf(error);
    if (reply !== undefined) return { status: 'admitted', reply, duplicate: true };
    if (mayStartAgain(error, request)) return undefined;
    throw gateway.toConversationError(error);
  }
}

async function tryOnce(
  parts: SendParts,
  request: StartRequest & SendRequest,
  kind: RequestKind,
): Promise<SendReply> {
  const { gateway } = parts;
  const { key, busyMs } = request;
  const asked = { key, kind, busyMs };
  const tried = await gateway.confirm(() => gateway.sendWithStart(request), asked);
  if (tried.confirmed) return { status: 'admitted', reply: tried.value, duplicate: false };
  refuseWhereBusy(tried.cause);
  return await leave(parts, request);
}

/** Leaves the message as a signal. The end of the log is read before, since events up to it concern earlier tries. */
async function leave(
  { gateway, log }: SendParts,
  request: StartRequest & SendRequest,
): Promise<SendReply> {
  const page = log?.events(request.key, { before: 'end', limit: 1 });
  const read =
    page === undefined ? page : await within(LOG_DEADLINE_MS, page).catch(() => undefined);
  await gateway.signalWithStart(asQueued(request));
  return { status: 'queued', after: read?.tail };
}

/**
 * Refuses a message that got no place beside others that are answered: as a signal it would begin its turn at once, and
 * delay those of other tenants.
 * @throws {ConversationError} workers_busy
 */
function refuseWhereBusy(cause: unknown): void {
  if (ConversationError.isInstance(cause) && cause.retryAfterMs !== undefined) throw cause;
}

/** The first reply, when the workflow recognises the request. */
function duplicateOf(error: unknown): SendMessageReply | undefined {
  const refusal = refusalOf(error);
  return refusal?.type === 'duplicate' ? (refusal.detail as SendMessageReply) : undefined;
}

function mayStartAgain(error: unknown, request: SendRequest): boolean {
  if (isClosedRun(error)) return true;
  const refusal = request.reopen ? refusalOf(error) : undefined;
  return refusal?.type === 'conversation_closed' && !isNotReopened(error, 'never');
}

/** As `stateInLog` has it. */
export async function isClosedInLog(
  parts: SendParts,
  request: Pick<SendRequest, 'key'>,
): Promise<boolean> {
  return (await stateInLog(parts, request)) === 'closed';
}

/**
 * Temporal forgets closed runs after their retention; the log does not. A log that cannot be read does not block the
 * message: it counts as one without the conversation.
 */
async function stateInLog(
  { gateway, log }: SendParts,
  { key }: Pick<SendRequest, 'key'>,
): Promise<'absent' | 'open' | 'closed'> {
  const snapshot = log === undefined ? undefined : await findOutcome(log, key);
  if (snapshot === undefined) return 'absent';
  if (snapshot.status !== 'closed') return 'open';
  // The log may lag behind a conversation that was opened again just now.
  return isOpenRun(await gateway.describe(key)) ? 'open' : 'closed';
}

/**
 * The stored snapshot; undefined when there is none, or when the log is down or slow: the log must not block a turn.
 */
async function findOutcome(
  log: ConversationReader,
  key: ConversationKey,
): Promise<ConversationSnapshot | undefined> {
  return await within(LOG_DEADLINE_MS, log.snapshot(key)).catch(() => undefined);
}

/**
 * Decides on a closed run: a way to start again, the recorded reply (`find`), or the refusal.
 * @throws {ConversationError} conversation_closed; invalid_request, as `find` has it
 */
export async function startAgain<Reply>(
  parts: SendParts,
  request: Pick<SendRequest, 'key' | 'reopen'>,
  find: () => Promise<Reply | undefined>,
): Promise<StartPolicy | Admitted<Reply>> {
  const { gateway } = parts;
  const { key } = request;
  const run = await gateway.describe(key);
  if (isOpenRun(run)) return FRESH;
  if (run === undefined && (await gateway.wasDeleted(key))) return { reuse: 'ALLOW_DUPLICATE' };
  // No run exists, and the log has no closed conversation.
  if (run === undefined && !(await isClosedInLog(parts, request))) return FRESH;
  if (run?.status.name === 'FAILED' && (await hadNothing(parts, key, run.runId)))
    return { reuse: 'ALLOW_DUPLICATE_FAILED_ONLY' };
  if (request.reopen)
    return {
      reuse: 'ALLOW_DUPLICATE',
      reopen: run === undefined ? {} : { closedRunId: run.runId },
    };
  const reply = await find().catch((error: unknown) => {
    if (fieldOf(error, 'code') === 'invalid_request') throw error;
    return undefined;
  });
  if (reply !== undefined) return { status: 'admitted', reply, duplicate: true };
  throw closed(key);
}

/** The last run admitted nothing, nor did any run before it, so that a fresh start loses nothing. */
async function hadNothing(
  { gateway, log }: SendParts,
  key: ConversationKey,
  runId: string,
): Promise<boolean> {
  if ((await gateway.failureType(key, runId)) !== 'not_admitted') return false;
  return log === undefined || !(await wasEverAdmitted(log, key));
}

/**
 * Whether the log has an input of the conversation. A run that admitted nothing may leave a log of its start.
 * @throws the errors of the log: a start over a log that cannot be read could lose its content
 */
async function wasEverAdmitted(log: ConversationReader, key: ConversationKey): Promise<boolean> {
  for await (const { type } of allEvents(log, key))
    if (type === 'user_message' || type === 'inbox_event') return true;
  return false;
}

function stillClosing({ conversationId }: ConversationKey, cause: unknown): ConversationError {
  const text = `Conversation "${conversationId}" is still closing. Send the message again`;
  return new ConversationError('timeout', text, { cause });
}

function closed(key: ConversationKey, cause?: unknown): ConversationError {
  return new ConversationError(
    'conversation_closed',
    `Conversation "${key.conversationId}" is closed. A message with reopen: true continues it`,
    { cause },
  );
}
