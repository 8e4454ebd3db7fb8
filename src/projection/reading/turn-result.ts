/** Reads the result of a turn from the store, and waits for it. */

import { resultOfEnd } from '../../client/reading/workflow-reader.js';
import type { TurnResult } from '../../protocol/conversation/conversation.js';
import { waitingResult } from '../../protocol/conversation/waiting.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey, TurnId } from '../../protocol/values/ids.js';
import type { LiveChannel } from '../../store/ports/live.js';
import type { EventLog } from '../../store/ports/log.js';
import { resultOfLostTurn } from '../catch-up/lost-turn.js';
import { ChangeWaiter } from './change-waiter.js';

export interface TurnWait {
  readonly key: ConversationKey;
  readonly turnId: TurnId;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly returnWhenWaiting: boolean;
  /** A seq that the caller knows to be recorded: a call that waited before it may wait no more. */
  readonly atLeastSeq?: number | undefined;
}

/** Milliseconds beyond the caller's time in which a log that grows is read again. */
const GROWING_MS = 500;

/**
 * Waits until the turn has ended, or only outside waits remain, or the time is up; an abort counts as time up.
 * Undefined: the turn is not known.
 * @throws {StoreUnavailable}
 */
export async function waitForTurn(
  deps: { readonly log: EventLog; readonly live?: LiveChannel | undefined },
  wait: TurnWait,
): Promise<TurnResult | undefined> {
  const { key, turnId, signal } = wait;
  const giveUpAt = performance.now() + wait.timeoutMs;
  const waiter = new ChangeWaiter({ live: deps.live, key, signal });
  let lookedAt: string | undefined;
  let isKnown = false;
  try {
    for (;;) {
      const head = await deps.log.head(key);
      const position = head && `${head.generation}-${head.lastSeq}`;
      const hasMoved = position !== lookedAt;
      if (head !== undefined && hasMoved) {
        const isRunning = head.snapshot.turn?.turnId === turnId;
        const events = isRunning ? [] : await deps.log.readTurn(key, turnId);
        isKnown = isRunning || events.length > 0;
        const isRecent = head.lastSeq >= (wait.atLeastSeq ?? 0);
        const ended = isRunning
          ? undefined
          : (resultOf(events) ?? (await resultOfLostTurn(deps.log, { head, events, turnId })));
        // Also where the time is up: else a turn that is over would count as open.
        const mayRead = signal?.aborted !== true && performance.now() < giveUpAt + GROWING_MS;
        if (ended === 'moved' && mayRead) continue;
        const result =
          (ended === 'moved' ? undefined : ended) ??
          (wait.returnWhenWaiting && isRecent ? waitingResult(head.snapshot, turnId) : undefined);
        if (result !== undefined) return result;
      }
      lookedAt = position;
      const leftMs = giveUpAt - performance.now();
      if (leftMs <= 0 || signal?.aborted === true)
        return isKnown ? { status: 'timeout', turnId } : undefined;
      waiter.polled(hasMoved);
      await waiter.wait(leftMs);
    }
  } finally {
    waiter.close();
  }
}

function resultOf(events: readonly CanonicalEvent[]): TurnResult | undefined {
  for (const event of events) if (event.type === 'turn_ended') return resultOfEnd(event);
  return undefined;
}
