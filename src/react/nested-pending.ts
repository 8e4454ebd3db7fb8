/** Waiting calls of sub-agents, at any depth below a conversation. */
import { useEffect, useRef, useState } from 'react';
import type { BrowserClient, ConversationView, NestedPendingView } from '../browser/index.js';
import { pendingView } from '../browser/view/settled.js';
import type { UsedConversation } from './hooks.js';

/** The log of a conversation has no event when a call of its sub-agents begins to wait. */
const PAUSE_MS = 2_000;
const NONE: readonly NestedPendingView[] = [];

/**
 * The calls that wait in conversations of sub-agents, with their paths: the same list until one of them changes. Read
 * every two seconds while sub-agents are at work and the page is seen, so that it may lag behind by as much. A read that
 * fails leaves the list as it is. Each call is answered in its own conversation.
 * @example
 * const calls = useNestedPending(client, used);
 * calls.map((call) => <Approval call={call} conversation={client.conversation(call.conversationId)} />);
 */
export function useNestedPending(
  client: BrowserClient,
  { conversation, view }: UsedConversation,
): readonly NestedPendingView[] {
  const { id } = conversation;
  const atWork = view.subAgents?.join(' ') ?? '';
  const latest = useRef(view);
  useEffect(() => {
    latest.current = view;
  });
  const [found, setFound] = useState<Found>();
  const newest = useRef<Found>(undefined);
  useEffect(() => {
    if (atWork === '') return;
    const left = new AbortController();
    const { signal } = left;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        const calls = await readNested(client, id, signal).catch(() => undefined);
        if (signal.aborted) return;
        if (calls !== undefined)
          newest.current = shown(newest.current, { client, id, calls }, latest);
        setFound(newest.current);
      }
      timer = setTimeout(() => void look(), PAUSE_MS);
    };
    void look();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [client, id, atWork]);
  return atWork !== '' && found?.id === id && found.client === client ? found.views : NONE;
}

/** A call as the API lists it. */
type Listed = Omit<NestedPendingView, 'form' | 'state'>;

interface Read {
  readonly client: BrowserClient;
  readonly id: string;
  readonly calls: readonly Listed[];
}

interface Found extends Pick<Read, 'client' | 'id'> {
  readonly text: string;
  readonly views: readonly NestedPendingView[];
}

async function readNested(
  { api }: BrowserClient,
  id: string,
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const path = `/v1/conversations/${encodeURIComponent(id)}/pending`;
  const { pending } = await api.read<{ readonly pending: readonly Listed[] }>(path, {
    query: { nested: 'true' },
    signal,
  });
  return pending.filter((call) => call.path.length > 0);
}

function shown(
  before: Found | undefined,
  { client, id, calls }: Read,
  { current: view }: { readonly current: ConversationView },
): Found {
  const text = JSON.stringify(calls);
  if (before?.client === client && before.id === id && before.text === text) return before;
  const { me } = client;
  const views = calls.map((call) => {
    const requesters = requestersOf(view, call.path[0].toolCallId);
    return { ...call, ...pendingView(call, { me, requesters }) };
  });
  return { client, id, text, views };
}

/** A sub-agent works for those who asked in the turn of the call, as far as the view has it. */
function requestersOf({ messages }: ConversationView, toolCallId: string): readonly string[] {
  const made = messages.find(
    (message) =>
      message.role === 'assistant' && message.calls.some((call) => call.toolCallId === toolCallId),
  );
  if (made?.role !== 'assistant') return [];
  return messages.flatMap((message) =>
    message.role === 'user' && message.turnId === made.turnId ? (message.from?.id ?? []) : [],
  );
}
