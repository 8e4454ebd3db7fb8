/** The lines that `colloquy dev` prints for turns that have ended: what the agent said, or why the turn failed. */
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { conversationKey } from '../../protocol/values/ids.js';
import { oneLine } from '../conversations/text.js';
import { type Api, readApi } from './api-read.js';

type TurnEnded = Extract<CanonicalEvent, { readonly type: 'turn_ended' }>;

/** The newest conversations that are watched; older ones that go on are not. */
const LISTED = 100;
/** Events of a conversation that are read at once: those of the turns between two looks. */
const READ = 100;
const MAX_CHARS = 300;

/** Prints the end of each turn once. Turns that ended before the first look are not printed. */
export class AnswerLines {
  readonly #api: Api;
  /** Seq of the last event that was looked at, of each conversation. */
  readonly #seen = new Map<string, number>();
  #hasLooked = false;

  constructor(api: Api) {
    this.#api = api;
  }

  /** New lines. None while the API is unreachable. */
  async news(signal: AbortSignal): Promise<readonly string[]> {
    const page = await readApi<{ readonly conversations: readonly ConversationSnapshot[] }>(
      this.#api,
      `/v1/conversations?limit=${LISTED}`,
      signal,
    );
    if (page === undefined) return [];
    const lines: string[] = [];
    // The oldest first, as they would have been printed.
    for (const snapshot of page.conversations.toReversed()) {
      const key = conversationKey(snapshot);
      const seen = this.#seen.get(key) ?? (this.#hasLooked ? 0 : snapshot.seq);
      if (snapshot.seq > seen && snapshot.parent === undefined) {
        const ended = await this.#endedSince(snapshot, seen, signal);
        if (ended === undefined) continue;
        lines.push(...ended.map((event) => answerLine(snapshot.conversationId, event)));
      }
      this.#seen.set(key, Math.max(seen, snapshot.seq));
    }
    this.#hasLooked = true;
    return lines;
  }

  /** Undefined while the log cannot be read. */
  async #endedSince(
    { conversationId, seq: last }: ConversationSnapshot,
    seen: number,
    signal: AbortSignal,
  ): Promise<readonly TurnEnded[] | undefined> {
    const path = `/v1/conversations/${conversationId}/events?before=end&limit=${READ}`;
    const page = await readApi<{ readonly events: readonly CanonicalEvent[] }>(
      this.#api,
      path,
      signal,
    );
    return page?.events
      .filter((event) => event.type === 'turn_ended')
      .filter(({ seq }) => seq > seen && seq <= last)
      .toReversed();
  }
}

function answerLine(id: string, { status, text, error }: TurnEnded): string {
  switch (status) {
    case 'completed':
      return `answers   ${id}: ${text.trim() === '' ? '(no text)' : oneLine(text, MAX_CHARS)}`;
    case 'failed':
      return `failed    ${id}: ${oneLine(error?.message ?? '', MAX_CHARS)}`;
    case 'cancelled':
      return `cancelled ${id}`;
  }
}
