/** The answers on their way, which are sent when the page is left or hidden. */
import { ApiError, type Problem } from 'colloquy/browser';
import { resolveMany } from 'colloquy/browser/worklist';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Session } from '../../session/session.js';
import { newId } from '../../shared/new-id.js';
import { Outbox, type OutgoingAnswer } from '../model/outbox.js';

/** An answer that the API cannot take now is sent until it can: nothing but the person gives it up. */
const GIVE_UP_MS = 7 * 86_400_000;

export function useOutbox(session: Session): {
  readonly outbox: Outbox;
  readonly answers: readonly OutgoingAnswer[];
} {
  const outbox = useMemo(() => outboxOf(session), [session]);
  useEffect(() => {
    const leave = (): void => outbox.leave();
    // The last event that a page on a phone is sure to get.
    const hide = (): void => {
      if (document.visibilityState === 'hidden') outbox.hide();
    };
    const ask = (event: BeforeUnloadEvent): void => {
      if (outbox.isAtRisk) event.preventDefault();
    };
    addEventListener('pagehide', leave);
    document.addEventListener('visibilitychange', hide);
    addEventListener('beforeunload', ask);
    return () => {
      removeEventListener('pagehide', leave);
      document.removeEventListener('visibilitychange', hide);
      removeEventListener('beforeunload', ask);
      // Signing out leaves the page as well.
      outbox.leave();
    };
  }, [outbox]);
  const { subscribe, getSnapshot } = outbox;
  return { outbox, answers: useSyncExternalStore(subscribe, getSnapshot) };
}

function outboxOf({ client }: Session): Outbox {
  return new Outbox({
    newId,
    problemOf,
    send: async (answers, keepalive) => {
      const sent = answers.map(
        ({ conversationId, toolCallId, resolution, requestId, argsDigest }) => {
          return { conversationId, toolCallId, resolution, requestId, argsDigest };
        },
      );
      return await resolveMany(client, sent, { keepalive, giveUpMs: GIVE_UP_MS });
    },
  });
}

function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return error.problem;
  return { status: 0, code: 'unreachable', detail: String(error) };
}
