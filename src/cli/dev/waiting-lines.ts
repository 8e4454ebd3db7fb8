/** The lines that `colloquy dev` prints for every waiting call, each with the request that answers it. */
import { excludesRequester } from '../../core/calls/audience.js';
import type { SampleAnswer } from '../../core/view/sample-answer.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { conversationKey } from '../../protocol/values/ids.js';
import { safeJson, shellQuote } from '../../protocol/workflow/shown-text.js';
import { requestersInLog } from '../../store/plans/pending.js';
import { type ByHand, waitingLines } from '../conversations/waiting-lines.js';
import { curlOption } from '../process/development.js';
import { readApi } from './api-read.js';
import type { Stack } from './stack.js';

type Api = Pick<Stack, 'apiUrl' | 'apiHeaders' | 'secret'>;

const PAGE = 1_000;
/** The most conversations that the API lists at once. */
const LISTED = 100;

interface Page {
  readonly conversations?: readonly ConversationSnapshot[];
  readonly nextCursor?: string;
}

/**
 * Prints each call once, and again when it waits for something else: another question, other arguments, a new form or
 * claim, a rejected answer.
 */
export class WaitingLines {
  readonly #api: Api;
  readonly #byHand: ByHand;
  readonly #said = new Map<string, string>();

  constructor(api: Api) {
    this.#api = api;
    this.#byHand = requestsTo(api);
  }

  /** New lines. None while the API is unreachable: it may be restarting. */
  async news(signal: AbortSignal): Promise<readonly string[]> {
    const news: string[] = [];
    for (let from = ''; ; ) {
      const page = await readApi<Page>(
        this.#api,
        `/v1/conversations?status=awaiting_input&limit=${LISTED}${from}`,
        signal,
      );
      for (const snapshot of page?.conversations ?? [])
        news.push(...(await this.#newsOf(snapshot, signal)));
      if (page?.nextCursor === undefined) return news;
      from = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
  }

  async #newsOf(snapshot: ConversationSnapshot, signal: AbortSignal): Promise<readonly string[]> {
    const news: string[] = [];
    for (const call of snapshot.pending) {
      const id = `${conversationKey(snapshot)}/${call.toolCallId}`;
      const { kind, argsDigest, ask, claim, answerSchema, reverted } = call;
      const now = JSON.stringify([kind, argsDigest, ask, claim?.claimId, answerSchema, reverted]);
      if (this.#said.get(id) === now) continue;
      const requesters = await this.#requesters(snapshot, call, signal);
      if (requesters === undefined) continue;
      this.#said.set(id, now);
      news.push(...waitingLines(this.#byHand, { snapshot, call, requesters }));
    }
    return news;
  }

  /** Requesters of a call whose audience excludes them; undefined while the log cannot be read. */
  async #requesters(
    { conversationId }: ConversationSnapshot,
    { audience, turnId }: PendingCall,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    if (audience === undefined || !excludesRequester(audience)) return [];
    const events: CanonicalEvent[] = [];
    for (let after = ''; ; ) {
      const page = await readApi<{ events: CanonicalEvent[]; cursor: string; more: boolean }>(
        this.#api,
        `/v1/conversations/${conversationId}/events?limit=${PAGE}${after}`,
        signal,
      );
      if (page === undefined) return undefined;
      events.push(...page.events);
      if (!page.more) break;
      after = `&after=${page.cursor}`;
    }
    return requestersInLog(events, turnId);
  }
}

/** Requests to an API with the development identity, which may name any actor and verifies none. */
export function requestsTo({ apiUrl, secret }: Pick<Api, 'apiUrl' | 'secret'>): ByHand {
  return {
    commandFor: ({ snapshot: { conversationId }, call }, answer) => {
      const id = encodeURIComponent(call.toolCallId);
      const url = `${apiUrl}/v1/conversations/${conversationId}/tool-calls/${id}/resolution`;
      return curl(url, safeJson(bodyOf(call, answer)), secret.file);
    },
    withoutCommand:
      'No request by hand can answer it, for the development identity is not verified: it is answered through the application.',
  };
}

/** The resolution alone if the call needs no more. */
function bodyOf({ audience, claim }: PendingCall, answer: SampleAnswer): object {
  const { resolution, argsDigest, claimId, actor } = answer;
  if (audience !== undefined || claim !== undefined)
    return { resolution, argsDigest, claimId, actor };
  return argsDigest === undefined ? resolution : { resolution, argsDigest };
}

/**
 * A command to paste into a POSIX shell; `curl` reads the secret from its file. The address holds no character that a
 * shell interprets.
 */
export function curl(url: string, json: string, secretFile: string): string {
  return `curl -s ${url} ${curlOption(secretFile)} -H 'content-type: application/json' -d ${shellQuote(json)}`;
}
