/** Stops a turn and closes a conversation. Neither ever starts a workflow; both are safe to repeat. */
import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type {
  CancelTurnInput,
  CloseConversationReply,
} from '../../protocol/conversation/conversation.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import { checkCancel, checkKey } from '../api/checks.js';
import { ConversationError } from '../api/errors.js';
import type { CancelOptions, CancelOutcome } from '../api/types.js';
import type { ConversationReader } from '../ports/reader.js';
import type { ReadYourWrites } from '../reading/read-your-writes.js';
import { confirmUpdate } from '../temporal/confirmed-update.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';

export interface ControlParts {
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
  readonly known: ReadYourWrites;
  readonly stamp: (actor: CancelOptions['actor']) => StampedActor;
}

export class Control {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  /**
   * Stops the running turn, or only the named one. If there is none, the outcome is `cancelled: false`. Without a
   * worker the stop is left as a signal and the outcome is `queued`.
   * @throws {ConversationError} unknown_conversation; invalid_request for options that break a rule, of which nothing is
   *   sent, and for a request id that has stopped another turn
   */
  async cancel(key: ConversationKey, options: CancelOptions = {}): Promise<CancelOutcome> {
    checkKey(key);
    checkCancel(options);
    const { gateway, known, stamp } = this.#parts;
    const { requestId = randomUUID() } = options;
    const actor = stamp(options.actor);
    const input: CancelTurnInput = {
      requestId,
      actor,
      ...(options.turnId === undefined ? {} : { turnId: options.turnId }),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    };
    const updateId = updateIdFor({
      operation: 'cancelTurn',
      requestId,
      actor: actor.id,
      ...(options.turnId === undefined ? {} : { callId: options.turnId }),
    });
    try {
      const tried = await gateway.confirm(
        () => gateway.update(key, 'cancelTurn', { input, updateId }),
        { key },
      );
      if (tried.confirmed) {
        known.note(key, tried.value.seq);
        return { status: 'done', ...tried.value };
      }
      await gateway.signal(key, 'cancelTurn', input);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw gateway.toConversationError(error);
      await assertExists(this.#parts, key);
      return { status: 'done', cancelled: false };
    }
    const { reason, text } = await gateway.whyUnanswered(key);
    return { status: 'queued', requestId, reason, warning: text };
  }

  /**
   * Closes the conversation; its log stays. For a closed one, the reply is the same.
   * @throws {ConversationError} unknown_conversation; no_worker when no worker confirmed: the server may still pass the
   *   request to the next worker, so read the state before closing again
   */
  async close(
    key: ConversationKey,
    actor?: CancelOptions['actor'],
  ): Promise<CloseConversationReply> {
    checkKey(key);
    const { gateway, reader, known, stamp } = this.#parts;
    const requestId = randomUUID();
    const updateId = updateIdFor({ operation: 'closeConversation', requestId });
    const input = { requestId, actor: stamp(actor) };
    try {
      const unconfirmed = 'Closing was not confirmed, and may still happen';
      const update = { name: 'closeConversation', input, updateId, unconfirmed } as const;
      const reply = await confirmUpdate(gateway, key, update);
      known.note(key, reply.seq);
      return reply;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw gateway.toConversationError(error);
      await assertExists(this.#parts, key);
      const snapshot = await reader.snapshot(key).catch(() => undefined);
      return { closed: true, seq: snapshot?.seq ?? 0 };
    }
  }
}

/**
 * Distinguishes a closed conversation from one that never existed. Called only after a refusal.
 * @throws {ConversationError} unknown_conversation; store_unavailable when the log cannot be read
 */
export async function assertExists(
  { gateway, reader }: Pick<ControlParts, 'gateway' | 'reader'>,
  key: ConversationKey,
): Promise<void> {
  if ((await gateway.describe(key)) !== undefined) return;
  const logged = await reader.snapshot(key).catch((error: unknown) => {
    throw gateway.toConversationError(error);
  });
  if (logged !== undefined) return;
  throw new ConversationError('unknown_conversation', `No conversation "${key.conversationId}"`);
}
