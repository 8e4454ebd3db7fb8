/**
 * Sends a message for an application: from its text to a turn, or to a queued message that becomes one once a worker
 * takes it.
 */
import { randomUUID } from 'node:crypto';
import type { SendMessageInput } from '../../protocol/conversation/conversation.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { checkedMs, givenOutput } from '../api/checks.js';
import { ConversationError, invalidField } from '../api/errors.js';
import { checkOptions } from '../api/known-options.js';
import type { QueuedMessage, SendOptions, Sent, Turn } from '../api/types.js';
import type { AgentSource } from '../ports/agents.js';
import type { ConversationReader } from '../ports/reader.js';
import { LOG_DEADLINE_MS } from '../reading/ended-calls.js';
import { SignalTrace } from '../reading/signal-outcome.js';
import { firstRunOf } from '../temporal/executions.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import { orLate, repeatUntil } from '../temporal/waiting.js';
import type { TriggeredConversation } from '../triggers/triggers.js';
import { findAgent, findServedAgent } from './agents.js';
import {
  asQueued,
  confirmMessage,
  messageUpdateId,
  refusalTrace,
  type SendReply,
  type SendRequest,
  sendMessage,
} from './send.js';
import { admittedTurn, DEFAULT_RESULT_TIMEOUT, type TurnParts } from './turn.js';

/** The wait of a message for a place: a job that begins thousands of conversations goes at the pace of the workers. */
const DEFAULT_BUSY_MS = 30_000;

export interface SendingParts extends TurnParts {
  /** The agent's name, if the caller passed one. */
  readonly agent: string | undefined;
  readonly agents: AgentSource;
  readonly gateway: TemporalGateway;
  readonly log: ConversationReader | undefined;
  readonly stamp: (actor: SendOptions['actor']) => StampedActor;
}

/** A message under its request id, not judged yet. */
type MessageDraft = Omit<SendMessageInput, 'agent' | 'actor' | 'requestId'> & {
  readonly requestId: string;
  readonly actor: StampedActor;
};

export function draftOf({ stamp }: SendingParts, text: string, options: SendOptions): MessageDraft {
  const { attachments, output, onBusy } = options;
  return {
    text,
    requestId: options.requestId ?? randomUUID(),
    actor: stamp(options.actor),
    ...(attachments === undefined ? {} : { attachments }),
    ...(output === undefined ? {} : { output: givenOutput(output) }),
    ...(onBusy === undefined ? {} : { onBusy }),
  };
}

/** @throws errors of Temporal, of the store, and refusals; see `Conversation.send` */
export async function sendDraft(
  parts: SendingParts,
  draft: MessageDraft,
  { reopen = false, busyTimeout }: Pick<SendOptions, 'reopen' | 'busyTimeout'>,
): Promise<Sent> {
  const busyMs =
    busyTimeout === undefined
      ? DEFAULT_BUSY_MS * parts.gateway.patience()
      : checkedMs('busyTimeout', busyTimeout);
  const { key, agents } = parts;
  const manifest = await findServedAgent(agents, await namedAgentOf(parts));
  const request: SendRequest = {
    key,
    manifest,
    input: { ...draft, agent: manifest.name },
    updateId: messageUpdateId(draft.requestId, draft.actor.id),
    reopen,
    busyMs,
  };
  const reply = await sendMessage(parts, request);
  return reply.status === 'admitted'
    ? admitted(parts, reply, draft.requestId)
    : await queued(parts, asQueued(request), reply);
}

/** The agent that the caller passed, or that the conversation already has. */
export async function namedAgentOf(
  parts: SendingParts,
): Promise<{ readonly tenant: string; readonly name: string }> {
  const name = parts.agent ?? (await knownAgentOf(parts));
  if (name !== undefined) return { tenant: parts.key.tenant, name };
  throw invalidField('/agent', 'is needed to start a conversation');
}

/**
 * The agent by the log, else by the memo of the newest run: the log may lag behind, and a description needs no worker.
 * @throws {ConversationError} store_unavailable where Temporal has no run either: the log may have it
 */
export async function knownAgentOf({
  key,
  log,
  gateway,
}: SendingParts): Promise<string | undefined> {
  let failure: unknown;
  const read =
    log &&
    orLate(LOG_DEADLINE_MS, log.snapshot(key), () => {
      throw new ConversationError('store_unavailable', 'The event log does not answer in time');
    });
  const logged = await read?.catch((error: unknown) => {
    failure = error;
    return undefined;
  });
  if (logged !== undefined) return logged.agent;
  const run = await gateway.describe(key);
  if (run === undefined && failure !== undefined) throw gateway.toConversationError(failure);
  const agent = run?.memo?.['agent'];
  return typeof agent === 'string' ? agent : undefined;
}

/** The conversation as its triggers see it. @throws {ConversationError} unknown_conversation */
export async function triggeredConversation(parts: SendingParts): Promise<TriggeredConversation> {
  const run = await parts.gateway.describe(parts.key);
  const agent = await knownAgentOf(parts);
  if (agent === undefined) {
    const { conversationId } = parts.key;
    throw new ConversationError('unknown_conversation', `No conversation "${conversationId}"`);
  }
  const { tenant } = parts.key;
  const { settings } = await findAgent(parts.agents, { tenant, name: agent });
  return { firstRunId: firstRunOf(run), idleCloseMs: settings.idleCloseMs };
}

function admitted(
  parts: SendingParts,
  { reply, duplicate }: Extract<SendReply, { status: 'admitted' }>,
  requestId: string,
): Turn {
  parts.known.note(parts.key, reply.seq);
  return admittedTurn(parts, reply, { requestId, duplicate });
}

async function queued(
  parts: SendingParts,
  request: SendRequest,
  { after }: Extract<SendReply, { status: 'queued' }>,
): Promise<QueuedMessage> {
  const { requestId } = request.input;
  const { key, gateway } = parts;
  const trace = new SignalTrace(parts, key, { trace: refusalTrace(requestId), after });
  const final: QueuedMessage['final'] = async (options = {}) => {
    checkOptions('final', options);
    const timeoutMs = checkedMs('timeout', options.timeout ?? DEFAULT_RESULT_TIMEOUT);
    const reply = await repeatUntil({ timeoutMs, signal: options.signal }, (remainingMs) =>
      confirmMessage({ ...parts, trace }, request, remainingMs),
    );
    return reply?.status === 'admitted' ? admitted(parts, reply, requestId) : undefined;
  };
  const { reason, text } = await gateway.whyUnanswered(key);
  return {
    status: 'queued',
    conversationId: key.conversationId,
    requestId,
    reason,
    warning: text,
    final,
    result: async (options = {}) => {
      checkOptions('result', options);
      const timeoutMs = checkedMs('timeout', options.timeout ?? DEFAULT_RESULT_TIMEOUT);
      const deadline = Date.now() + timeoutMs;
      const turn = await final({ timeout: timeoutMs, signal: options.signal });
      if (turn === undefined) return { status: 'queued', requestId };
      return await turn.result({ ...options, timeout: Math.max(deadline - Date.now(), 0) });
    },
  };
}
