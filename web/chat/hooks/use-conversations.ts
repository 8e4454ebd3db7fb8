/** The newest conversations of an agent that the person may read, read again when one of them begins or changes. */
import { ApiError, type BrowserClient } from 'colloquy/browser';
import { useEffect, useState } from 'react';

export interface ListedConversation {
  readonly conversationId: string;
  readonly status: string;
  readonly updatedAt: string;
  readonly pending: readonly unknown[];
}

export interface Listed {
  readonly conversations: readonly ListedConversation[];
  readonly isRead: boolean;
  readonly problem: string | undefined;
}

const NONE: Listed = { conversations: [], isRead: false, problem: undefined };
const SHOWN = '50';

/** @param changes The list is read again when this value changes. */
export function useConversations(client: BrowserClient, agent: string, changes: string): Listed {
  const [listed, setListed] = useState(NONE);
  useEffect(() => {
    const left = new AbortController();
    const read = async (): Promise<void> => {
      try {
        const page = await client.api.read<Pick<Listed, 'conversations'>>('/v1/conversations', {
          query: { agent, limit: SHOWN },
          signal: left.signal,
        });
        const conversations = page.conversations.toSorted((one, other) =>
          other.updatedAt.localeCompare(one.updatedAt),
        );
        if (!left.signal.aborted) setListed({ conversations, isRead: true, problem: undefined });
      } catch (error) {
        if (left.signal.aborted) return;
        const problem = error instanceof ApiError ? error.problem.detail : String(error);
        setListed((before) => ({ ...before, isRead: true, problem }));
      }
    };
    void read();
    return () => left.abort();
  }, [client, agent, changes]);
  return listed;
}
