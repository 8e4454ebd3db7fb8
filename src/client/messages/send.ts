/**
 * Sending a message: start or continue in one call, confirmed by an update, else durable as a signal with the same ids.
 *
 * I1 Everything that can be refused without the workflow is refused before Temporal is called.
 * I2 The request id is minted before the first try; every try of one call carries the same ids.
 * I3 A closed conversation is never started again by accident: only by `reopen`, or when none of its runs admitted anything.
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
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { EngineError } from '../api/errors.js';
import type { ConversationReader } from '../ports/reader.js';
import { findMessage } from '../reading/log-search.js';
import type { KnownSeqs } from '../reading/read-your-writes.js';
import type { SignalTrace, Trace } from '../reading/signal-outcome.js';
import { isClosedRun, refusalOf } from '../temporal/errors.js';
import { isOpenRun } from '../temporal/executions.js';
import type { StartPolicy, StartRequest } from '../temporal/start-options.js';
import type { Door } from '../temporal/temporal-gateway.js';
import { within } from '../temporal/waiting.js';
import { seedFor, wasEverAdmitted } from './reopen.js';

export interface SendRequest {
  readonly key: ConversationKey;
  readonly manifest: AgentManifest;
  readonly input: SendMessageInput & { readonly requestId: string };
  readonly updateId: string;
  readonly reopen: boolean;
}

export type SendReply =
  | { readonly status: 'admitted'; readonly reply: SendMessageReply; readonly duplicate: boolean }
  | { readonly status: 'queued' };

export interface SendParts {
  readonly door: Door;
  readonly reader: ConversationReader;
  /** The event log, where there is one: it knows conversations that Temporal has forgotten. */
  readonly log: ConversationReader | undefined;
}

/** A run closes or moves between two looks at it: a few rounds settle which. */
const MAX_ROUNDS = 4;
const ROUND_PAUSE_MS = 50;
/** The log is a help here, not a condition. */
const LOG_DEADLINE_MS = 1_500;
const FRESH: StartPolicy = { reuse: 'REJECT_DUPLICATE' };

/**
 * Unique per call, so that the server's own memory of update ids does not hide a repeat: the workflow knows the request id
 * and says `duplicate`. Constant within the call, so that its tries are one update.
 */
export function messageUpdateId(requestId: string, actorId: string): string {
  return updateIdFor({
    operation: 'sendMessage',
    actor: actorId,
    requestId: `${requestId}~${randomUUID()}`,
  });
}

/** @throws {EngineError} with the code of the refusal; temporal_unreachable when nothing could be left there either. */
export async function sendMessage(
  parts: SendParts & { readonly known: KnownSeqs },
  request: SendRequest,
): Promise<SendReply> {
  if (parts.known.of(request.key) > 0) {
    const reply = await tryToContinue(parts.door, request);
    if (reply !== undefined) return reply;
  }
  let start: StartPolicy | SendReply = (await isClosedInLog(parts, request))
    ? await startAgain(parts, request)
    : FRESH;
  for (let round = 1; ; round += 1) {
    if ('status' in start) return start;
    try {
      return await tryOnce(parts.door, { ...request, start });
    } catch (error) {
      const reply = duplicateOf(error);
      if (reply !== undefined) return { status: 'admitted', reply, duplicate: true };
      if (round >= MAX_ROUNDS || !mayStartAgain(error, request))
        throw parts.door.toEngineError(error);
    }
    if (round > 1) await sleep(ROUND_PAUSE_MS * round);
    start = await startAgain(parts, request);
  }
}

/** What is left as a signal: its sender cannot be told of a running turn, so where it would be rejected it waits. */
export function asQueued<Request extends { readonly input: SendMessageInput }>(
  request: Request,
): Request {
  const { input } = request;
  return input.onBusy === undefined
    ? { ...request, input: { ...input, onBusy: 'queue', ifRejected: true } }
    : request;
}

/** Finds that the message of a request was refused when it came as a signal; a later one of the same id may be taken. */
export function refusalTrace(requestId: string): Trace<MessageRefused> {
  return (found, event) => {
    if (!('requestId' in event) || event.requestId !== requestId) return found;
    if (event.type === 'message_refused') return event;
    return event.type === 'user_message' ? undefined : found;
  };
}

function refusedError({ code }: MessageRefused): EngineError {
  const known = isFailureCode(code) ? code : 'internal';
  const { title } = FAILURES[known];
  return new EngineError(known, `The message was not taken when a worker came to it: ${title}`);
}

/**
 * Asks again for the reply of a message that was left as a signal: the request id makes it one message.
 * Undefined while nobody answers.
 */
export async function confirmMessage(
  parts: SendParts & { readonly trace: SignalTrace<MessageRefused> },
  request: SendRequest,
  budgetMs: number,
): Promise<SendReply | undefined> {
  const { door, reader, trace } = parts;
  const { key, input, updateId } = request;
  try {
    // Refused is final: asked again, the same message could be taken as a new one. Of a refusal that was counted, not recorded, nobody
    // has been told: asked now, the conversation judges it as it is now.
    const look = await trace.look();
    if (look.status === 'found') throw refusedError(look.value);
    if (look.status === 'away') return undefined;
    const tried = await door.confirm(
      () => door.update(key, 'sendMessage', { input, updateId }),
      budgetMs,
      key,
    );
    return tried.confirmed
      ? { status: 'admitted', reply: tried.value, duplicate: false }
      : undefined;
  } catch (error) {
    const reply = duplicateOf(error);
    if (reply !== undefined) return { status: 'admitted', reply, duplicate: false };
    if (!isClosedRun(error)) throw door.toEngineError(error);
    const logged = await findMessage(reader, key, input);
    if (logged !== undefined) return { status: 'admitted', reply: logged, duplicate: false };
    throw closed(key, error);
  }
}

/**
 * A conversation that this process has just talked to is there already: nothing need be looked up, and a plain update costs
 * the server less than one that could start it. Undefined when it is not there any more, or closed.
 */
async function tryToContinue(door: Door, request: SendRequest): Promise<SendReply | undefined> {
  const { key, input, updateId } = request;
  try {
    const tried = await door.confirm(
      () => door.update(key, 'sendMessage', { input, updateId }),
      undefined,
      key,
    );
    if (tried.confirmed) return { status: 'admitted', reply: tried.value, duplicate: false };
    await door.signalWithStart(asQueued({ ...request, start: FRESH }));
    return { status: 'queued' };
  } catch (error) {
    const reply = duplicateOf(error);
    if (reply !== undefined) return { status: 'admitted', reply, duplicate: true };
    if (mayStartAgain(error, request)) return undefined;
    throw door.toEngineError(error);
  }
}

async function tryOnce(
  door: Door,
  request: StartRequest & { readonly input: SendMessageInput },
): Promise<SendReply> {
  const tried = await door.confirm(() => door.sendWithStart(request), undefined, request.key);
  if (tried.confirmed) return { status: 'admitted', reply: tried.value, duplicate: false };
  await door.signalWithStart(asQueued(request));
  return { status: 'queued' };
}

/** The first reply, when the workflow says that it knows the request. */
function duplicateOf(error: unknown): SendMessageReply | undefined {
  const refusal = refusalOf(error);
  return refusal?.type === 'duplicate' ? (refusal.detail as SendMessageReply) : undefined;
}

function mayStartAgain(error: unknown, request: SendRequest): boolean {
  if (isClosedRun(error)) return true;
  return request.reopen && refusalOf(error)?.type === 'conversation_closed';
}

/** Temporal forgets closed runs after their retention; the log does not. A log that cannot be read blocks nobody. */
export async function isClosedInLog(
  { door, log }: SendParts,
  request: Pick<SendRequest, 'key'>,
): Promise<boolean> {
  const snapshot = log === undefined ? undefined : await lookUp(log, request.key);
  if (snapshot?.status !== 'closed') return false;
  // The log may be behind a conversation that was opened again just now.
  return !isOpenRun(await door.describe(request.key));
}

/** The stored snapshot; undefined when there is none, or when the log is away or slow: it must not block a turn. */
export async function lookUp(
  log: ConversationReader,
  key: ConversationKey,
): Promise<ConversationSnapshot | undefined> {
  return await within(LOG_DEADLINE_MS, log.snapshot(key)).catch(() => undefined);
}

/** What to do about a run that is closed: the reply that it gave, the way to start again, or the refusal. */
async function startAgain(
  parts: SendParts,
  request: SendRequest,
): Promise<StartPolicy | SendReply> {
  const { door, reader } = parts;
  const { key, input } = request;
  const run = await door.describe(key);
  if (isOpenRun(run)) return FRESH;
  if (run === undefined && (await door.wasDeleted(key))) return { reuse: 'ALLOW_DUPLICATE' };
  // Neither runs nor was closed: there is none.
  if (run === undefined && !(await isClosedInLog(parts, request))) return FRESH;
  if (run?.status.name === 'FAILED' && (await hadNothing(parts, key, run.runId)))
    return { reuse: 'ALLOW_DUPLICATE_FAILED_ONLY' };
  const reply = await findMessage(reader, key, input).catch(() => undefined);
  if (reply !== undefined) return { status: 'admitted', reply, duplicate: true };
  if (!request.reopen) throw closed(key);
  return { reuse: 'ALLOW_DUPLICATE', carried: await seedFor(parts, key, request.manifest.name) };
}

/** Its last run admitted nothing, and no run before it did: there is nothing that a fresh start would forget. */
async function hadNothing(
  { door, log }: SendParts,
  key: ConversationKey,
  runId: string,
): Promise<boolean> {
  if ((await door.failureType(key, runId)) !== 'not_admitted') return false;
  return log === undefined || !(await wasEverAdmitted(log, key));
}

function closed(key: ConversationKey, cause?: unknown): EngineError {
  return new EngineError(
    'conversation_closed',
    `Conversation "${key.conversationId}" is closed. Send with reopen: true to go on with it`,
    { cause },
  );
}
