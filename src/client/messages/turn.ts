/** Turns as values: re-attachable from any process by conversation id and turn id. */
import type { SendMessageReply, TurnResult } from '../../protocol/conversation/conversation.js';
import type { ConversationKey, TurnId } from '../../protocol/values/ids.js';
import { checkedMs } from '../api/checks.js';
import { ConversationError } from '../api/errors.js';
import { checkOptions } from '../api/known-options.js';
import type {
  ResultOptions,
  Turn,
  TurnFrame,
  TurnHandle,
  TurnSubscribeOptions,
} from '../api/types.js';
import type { ConversationReader } from '../ports/reader.js';
import type { ReadYourWrites } from '../reading/read-your-writes.js';
import { fromTemporal } from '../temporal/errors.js';
import type { Control } from './control.js';
import { onceStored, placeInTurn, type TurnPlace, watchTurn } from './watch-turn.js';

/** Every wait is finite; ten minutes is longer than one request usually lasts. */
export const DEFAULT_RESULT_TIMEOUT = '10 minutes';

/**
 * Milliseconds for which a reader may lag behind the seqs that this process knows to be recorded. After that the
 * workflow decides whether they exist: after a reset the log may never be as long again.
 */
const LAG_MS = 2_000;

export interface TurnParts {
  readonly reader: ConversationReader;
  readonly control: Control;
  readonly known: ReadYourWrites;
  readonly key: ConversationKey;
  /** Factor for waits that no caller has set. */
  readonly patience: () => number;
}

/** A handle on a turn that may or may not exist. */
export function attachTurn(parts: TurnParts, turnId: TurnId): TurnHandle {
  const { key, control } = parts;
  return {
    conversationId: key.conversationId,
    turnId,
    result: async (options) => {
      const result = await resultWithin(parts, turnId, options ?? {});
      if (result !== undefined) return result;
      throw unknownTurn(turnId, key);
    },
    subscribe: (options) => turnFrames(parts, turnId, options),
    cancel: async (options) => await control.cancel(key, { ...options, turnId }),
  };
}

/**
 * A turn that was just admitted. If the reader does not know it yet, the reader lags behind, so the result is `timeout`
 * and never an error.
 */
export function admittedTurn(
  parts: TurnParts,
  reply: SendMessageReply,
  request: { readonly requestId: string; readonly duplicate: boolean },
): Turn {
  const { turnId, messageId, seq, ahead } = reply;
  return {
    ...attachTurn(parts, turnId),
    status: 'admitted',
    messageId,
    seq,
    ahead,
    requestId: request.requestId,
    duplicate: request.duplicate,
    result: async (options) =>
      (await resultWithin(parts, turnId, options ?? {})) ?? { status: 'timeout', turnId },
    subscribe: (options) => turnFrames(parts, turnId, { ...options, isAdmitted: true }),
  };
}

async function* turnFrames(
  { reader, key, patience }: TurnParts,
  turnId: TurnId,
  options: TurnSubscribeOptions & { readonly isAdmitted?: true } = {},
): AsyncGenerator<TurnFrame, void, undefined> {
  const { isAdmitted, ...given } = options;
  checkOptions('turnSubscribe', given);
  const { after } = given;
  const left = new AbortController();
  const signal =
    given.signal === undefined ? left.signal : AbortSignal.any([left.signal, given.signal]);
  const turn = { key, turnId };
  const read = async (): Promise<TurnPlace | undefined> => {
    const place = await placeInTurn(reader, turn, after);
    return place.status === 'unknown' && isAdmitted !== true ? undefined : place;
  };
  try {
    const from = await onceStored(read, { withinMs: LAG_MS * patience(), signal });
    if (from !== undefined) yield* watchTurn(reader, turn, { from, signal });
    else if (!signal.aborted) throw unknownTurn(turnId, key);
  } catch (error) {
    if (!signal.aborted) throw fromTemporal(error);
  } finally {
    left.abort();
  }
}

function unknownTurn(turnId: TurnId, { conversationId }: ConversationKey): ConversationError {
  const message = `No turn "${turnId}" is known in conversation "${conversationId}"`;
  return new ConversationError('unknown_turn', message);
}

async function resultWithin(
  parts: TurnParts,
  turnId: TurnId,
  options: ResultOptions,
): Promise<TurnResult | undefined> {
  checkOptions('result', options);
  const timeoutMs = checkedMs('timeout', options.timeout ?? DEFAULT_RESULT_TIMEOUT);
  const { reader, known, key } = parts;
  const lagMs = LAG_MS * parts.patience();
  const { signal, returnWhenWaiting = true } = options;
  const atLeastSeq = Math.max(known.of(key), options.atLeastSeq ?? 0);
  const ask = async (waitMs: number, seq: number): Promise<TurnResult | undefined> =>
    await reader.turnResult(key, turnId, {
      timeoutMs: waitMs,
      returnWhenWaiting,
      ...(seq === 0 ? {} : { atLeastSeq: seq }),
      ...(signal === undefined ? {} : { signal }),
    });
  try {
    if (atLeastSeq === 0 || timeoutMs <= lagMs) return await ask(timeoutMs, atLeastSeq);
    const giveUpAt = performance.now() + timeoutMs;
    const result = await ask(lagMs, atLeastSeq);
    const isAnswer = result !== undefined && result.status !== 'timeout';
    if (isAnswer || signal?.aborted === true) return result;
    // A workflow without a worker does not answer, and the reader's answer counts as well.
    const shown = await known.snapshot(reader, key, atLeastSeq).catch(() => undefined);
    const isRecorded = (shown?.seq ?? 0) >= atLeastSeq;
    const leftMs = Math.max(Math.ceil(giveUpAt - performance.now()), 0);
    return await ask(leftMs, isRecorded ? atLeastSeq : 0);
  } catch (error) {
    throw fromTemporal(error);
  }
}
