/** The messages that are being written. Each is kept while the page lives, also where another conversation is shown. */
import type { SendMessageOptions } from 'colloquy/browser';
import { useSyncExternalStore } from 'react';
import { newId } from '../../shared/new-id.js';
import type { ChosenFile } from '../model/files.js';

export type OnBusy = NonNullable<SendMessageOptions['onBusy']>;

export interface Draft {
  readonly text: string;
  readonly onBusy: OnBusy;
  readonly files: readonly ChosenFile[];
}

const EMPTY: Draft = { text: '', onBusy: 'queue', files: [] };

/** By the id of the conversation. */
export class Drafts {
  readonly #drafts = new Map<string, Draft>();
  /** By agent. */
  readonly #fresh = new Map<string, string>();
  readonly #listeners = new Set<() => void>();

  /** The id of the next new conversation with the agent: the same until it has `begun`. */
  freshId(agent: string): string {
    const id = this.#fresh.get(agent) ?? newConversationId();
    this.#fresh.set(agent, id);
    return id;
  }

  begun(agent: string): void {
    this.#fresh.delete(agent);
  }

  of(id: string): Draft {
    return this.#drafts.get(id) ?? EMPTY;
  }

  change(id: string, part: (before: Draft) => Partial<Draft>): void {
    const before = this.of(id);
    this.#drafts.set(id, { ...before, ...part(before) });
    for (const listener of this.#listeners) listener();
  }

  /** Bound, for `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

export interface UsedDraft {
  readonly draft: Draft;
  readonly change: (part: (before: Draft) => Partial<Draft>) => void;
}

export function useDraft(drafts: Drafts, id: string): UsedDraft {
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.of(id));
  return { draft, change: (part) => drafts.change(id, part) };
}

/** An id that no other page makes. */
function newConversationId(): string {
  return `chat-${newId()}`;
}
