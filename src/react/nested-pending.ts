/** Waiting calls of sub-agents, at any depth below a conversation. */
import { useEffect, useMemo, useState } from 'react';
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
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (atWork === '') return;
    const left = new AbortController();
    const { signal } = left;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        const calls = await readNested(client, id, signal).catch(() => undefined);
        if (signal.aborted) return;
        if (calls !== undefined) setFound((before) => sameOr(before, { client, id, calls }));
      }
      timer = setTimeout(() => void look(), PAUSE_MS);
    };
    void look();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [client, id, atWork]);
  // Sub-agents of a later turn begin with none.
  if (atWork === '' && found !== undefined) setFound(undefined);
  const isShown = atWork !== '' && found?.id === id && found.client === client;
  return useViews(client, isShown ? found.calls : NO_CALLS, view);
}

/** A call as the API lists it. */
type Listed = Omit<NestedPendingView, 'form' | 'state'>;

const NO_CALLS: readonly Listed[] = [];

interface Found {
  readonly client: BrowserClient;
  readonly id: string;
  readonly calls: readonly Listed[];
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

/** The same as before where the read has brought nothing new. */
function sameOr(before: Found | undefined, read: Found): Found {
  const isSame = before?.client === read.client && before.id === read.id;
  return isSame && JSON.stringify(before.calls) === JSON.stringify(read.calls) ? before : read;
}

/** Views by the calls of a read: React 18 renders twice in strict mode, with a memo for each. */
const MADE = new WeakMap<
  readonly Listed[],
  { readonly requesters: string; readonly views: readonly NestedPendingView[] }
>();

/** Made again when a message is loaded that shows for whom a sub-agent works. */
function useViews(
  { me }: BrowserClient,
  calls: readonly Listed[],
  { messages }: ConversationView,
): readonly NestedPendingView[] {
  const requesters = useMemo(
    () => JSON.stringify(calls.map(({ path }) => requestersOf(messages, path[0].toolCallId))),
    [calls, messages],
  );
  if (calls.length === 0) return NONE;
  const before = MADE.get(calls);
  if (before?.requesters === requesters) return before.views;
  const ids = JSON.parse(requesters) as readonly (readonly string[])[];
  const views = calls.map((call, index) => ({
    ...call,
    ...pendingView(call, { me, requesters: ids[index] ?? [] }),
  }));
  MADE.set(calls, { requesters, views });
  return views;
}

/** A sub-agent works for those who asked in the turn of the call, as far as the view has it. */
function requestersOf(
  messages: ConversationView['messages'],
  toolCallId: string,
): readonly string[] {
  const made = messages.find(
    (message) =>
      message.role === 'assistant' && message.calls.some((call) => call.toolCallId === toolCallId),
  );
  if (made?.role !== 'assistant') return [];
  return messages.flatMap((message) =>
    message.role === 'user' && message.turnId === made.turnId ? (message.from?.id ?? []) : [],
  );
}
