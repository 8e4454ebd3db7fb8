/** The conversations whose messages are not in the log yet: each is kept while the page shows others. */
import type { BrowserClient, BrowserConversation } from 'colloquy/browser';
import { useMemo, useSyncExternalStore } from 'react';

export interface Failed {
  readonly id: string;
  readonly agent: string | undefined;
  /** The text of the first message that was not sent. */
  readonly text: string;
}

interface Kept {
  readonly conversation: BrowserConversation;
  readonly agent: string | undefined;
}

const UNSENT: ReadonlySet<string> = new Set(['sending', 'accepted', 'failed']);

export class Unsent {
  readonly client: BrowserClient;
  /** By the id of the conversation and its agent. */
  readonly #kept = new Map<string, Kept>();

  /** `client` of this object gives a conversation of `client` that was kept as the same object again. */
  constructor(client: BrowserClient) {
    const conversation: BrowserClient['conversation'] = (id, options = {}) => {
      const { agent } = options;
      const key = JSON.stringify([id, agent]);
      for (const [other, one] of this.#kept)
        if (other !== key && !hasUnsent(one)) this.#kept.delete(other);
      const kept = this.#kept.get(key)?.conversation ?? client.conversation(id, options);
      this.#kept.set(key, { conversation: kept, agent });
      return kept;
    };
    this.client = { ...client, conversation };
  }

  /** For the conversations that are kept when it is called. Bound, as is `failed`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const ends = [...this.#kept.values()].map(({ conversation }) =>
      conversation.subscribe(listener),
    );
    return () => {
      for (const end of ends) end();
    };
  };

  /** A list of `Failed` as JSON: the same value while they are the same. */
  readonly failed = (): string =>
    JSON.stringify(
      [...this.#kept.values()].flatMap((one): Failed[] => {
        const message = messagesOf(one).find(({ state }) => state === 'failed');
        const { conversation, agent } = one;
        return message === undefined ? [] : [{ id: conversation.id, agent, text: message.text }];
      }),
    );
}

function messagesOf({ conversation }: Kept) {
  return conversation.getSnapshot().messages.filter((message) => message.role === 'user');
}

function hasUnsent(kept: Kept): boolean {
  return messagesOf(kept).some(({ state }) => UNSENT.has(state));
}

/** For a component that is mounted anew with each conversation. */
export function useFailed(unsent: Unsent, agent: string): readonly Failed[] {
  const failed = useSyncExternalStore(unsent.subscribe, unsent.failed);
  return useMemo(
    () => (JSON.parse(failed) as readonly Failed[]).filter((one) => one.agent === agent),
    [failed, agent],
  );
}
