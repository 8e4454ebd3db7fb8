/**
 * The lines that `colloquy dev` prints for every waiting call: the call, who may answer, and the command that answers
 * it.
 */
import { excludesRequester } from '../../core/calls/audience.js';
import {
  type SampleAnswer,
  sampleAnswer,
  whoMayAnswer,
  whyTakenBack,
} from '../../core/view/sample-answer.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { conversationKey } from '../../protocol/values/ids.js';
import { safeJson, shellQuote, shownJson, shownText } from '../../protocol/workflow/shown-text.js';
import { requestersStored } from '../../store/plans/pending.js';

const MAX_INPUT_CHARS = 2_000;
const PAGE = 1_000;
/** The most conversations that the API lists at once. */
const LISTED = 100;
const INDENT = ' '.repeat(10);

interface Page {
  readonly conversations?: readonly ConversationSnapshot[];
  readonly nextCursor?: string;
}

/**
 * Prints each call once, and again when it waits for something else: another question, other arguments, a new form or
 * claim, a rejected answer.
 */
export class WaitingLines {
  readonly #apiUrl: string;
  readonly #said = new Map<string, string>();

  constructor(apiUrl: string) {
    this.#apiUrl = apiUrl;
  }

  /** New lines. None while the API is unreachable: it may be restarting. */
  async news(signal: AbortSignal): Promise<readonly string[]> {
    const news: string[] = [];
    for (let from = ''; ; ) {
      const page = await this.#get<Page>(
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
      news.push(...waitingLines(this.#apiUrl, { snapshot, call, requesters }));
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
      const page = await this.#get<{ events: CanonicalEvent[]; cursor: string; more: boolean }>(
        `/v1/conversations/${conversationId}/events?limit=${PAGE}${after}`,
        signal,
      );
      if (page === undefined) return undefined;
      events.push(...page.events);
      if (!page.more) break;
      after = `&after=${page.cursor}`;
    }
    const ofTurn = events.filter(
      (event) =>
        (event.type === 'user_message' || event.type === 'turn_started') && event.turnId === turnId,
    );
    return JSON.parse(requestersStored(ofTurn, events.toReversed())) as readonly string[];
  }

  async #get<Body>(path: string, signal: AbortSignal): Promise<Body | undefined> {
    try {
      const response = await fetch(`${this.#apiUrl}${path}`, { signal });
      return response.ok ? ((await response.json()) as Body) : undefined;
    } catch {
      return undefined;
    }
  }
}

/**
 * The last line is the command, if there is one. Foreign text cannot move the cursor, nor change a word of the command.
 */
export function waitingLines(
  apiUrl: string,
  waits: {
    readonly snapshot: Pick<ConversationSnapshot, 'conversationId'>;
    readonly call: PendingCall;
    /** Ids of the users who requested the call. */
    readonly requesters: readonly string[];
  },
): readonly string[] {
  const { snapshot, call, requesters } = waits;
  const { conversationId } = snapshot;
  const { toolCallId, kind, name, deadline, reason, prompt } = call;
  const why = reason === undefined ? '' : ` (${shownText(reason, 500)})`;
  const url = `${apiUrl}/v1/conversations/${conversationId}/tool-calls/${encodeURIComponent(toolCallId)}/resolution`;
  const sample = sampleAnswer(call, requesters);
  return [
    `waits     ${conversationId}: ${kind} of ${shownText(name)}${why} until ${deadline}`,
    `${INDENT}arguments: ${shownJson(prompt, MAX_INPUT_CHARS)}`,
    ...(call.audience === undefined && call.claim === undefined
      ? []
      : [`${INDENT}who may answer: ${whoMayAnswer(call)}`]),
    ...whyTakenBack(call).map((line) => `${INDENT}${line}`),
    ...(sample?.hint === undefined ? [] : [`${INDENT}${sample.hint}`]),
    sample === undefined
      ? `${INDENT}No request by hand can answer it, for this API checks no identity: it is answered through the application.`
      : `${INDENT}${curl(url, safeJson(bodyOf(call, sample.answer)))}`,
  ];
}

/** The resolution alone if the call needs no more. */
function bodyOf({ audience, claim }: PendingCall, answer: SampleAnswer): object {
  const { resolution, argsDigest, claimId, actor } = answer;
  if (audience !== undefined || claim !== undefined)
    return { resolution, argsDigest, claimId, actor };
  return argsDigest === undefined ? resolution : { resolution, argsDigest };
}

/** A command to paste into a POSIX shell. The address holds no character that a shell interprets. */
export function curl(url: string, json: string): string {
  return `curl -s ${url} -H 'content-type: application/json' -d ${shellQuote(json)}`;
}
