/**
 * Hooks over the stores of `colloquy/browser`. Each opens its connection when the component is mounted, and ends it when
 * the component is unmounted or the hook gets another client, id or choice. Failures are part of the views.
 */
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type {
  BrowserClient,
  BrowserConversation,
  ConversationOptions,
  ConversationView,
  PendingView,
} from '../browser/index.js';
import {
  type BrowserWorklist,
  type WorklistChoice,
  type WorklistView,
  worklistOf,
} from '../browser/worklist/index.js';

export interface UsedConversation {
  /** Sends messages, answers calls, loads older messages. */
  readonly conversation: BrowserConversation;
  readonly view: ConversationView;
}

export interface UsedWorklist {
  readonly worklist: BrowserWorklist;
  readonly view: WorklistView;
}

/**
 * One conversation, followed while the component is mounted. Two components that name the same id follow it twice: share
 * the value instead.
 * @param options `agent`: the conversation may not have begun; the first message begins it. `isNew`: the page has just
 * made the id; the value of later renders changes nothing
 */
export function useConversation(
  client: BrowserClient,
  id: string,
  { agent, isNew = false }: ConversationOptions = {},
): UsedConversation {
  // A conversation that was new when it was opened stays the same object when it has begun: no dependency on `isNew`.
  const conversation = useMemo(
    () => client.conversation(id, agent === undefined ? {} : { agent, isNew }),
    [client, id, agent],
  );
  useEffect(() => {
    void conversation.open();
    return () => conversation.leave();
  }, [conversation]);
  const { subscribe, getSnapshot } = conversation;
  const view = useSyncExternalStore(subscribe, getSnapshot, getSnapshot);
  return { conversation, view };
}

/** The calls of a conversation that wait for an answer from outside: the same list until one of them changes. */
export function usePending({ view }: UsedConversation): readonly PendingView[] {
  return view.pending;
}

/** The calls that wait, over all conversations. A choice with the same fields is the same choice. */
export function useWorklist(client: BrowserClient, choice: WorklistChoice = {}): UsedWorklist {
  const key = JSON.stringify(choice);
  const worklist = useMemo(
    () => worklistOf(client, JSON.parse(key) as WorklistChoice),
    [client, key],
  );
  useEffect(() => {
    worklist.open();
    return () => worklist.stop();
  }, [worklist]);
  const { subscribe, getSnapshot } = worklist;
  const view = useSyncExternalStore(subscribe, getSnapshot, getSnapshot);
  return { worklist, view };
}
