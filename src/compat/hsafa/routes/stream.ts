/**
 * The stream of calls for tool workers of other systems: `tool.call` events from the offers of the log. Runs in Node.
 */
import { once } from 'node:events';
import type { Request, Response } from 'express';
import type { ToolOffer } from '../../../protocol/calls/claims.js';
import type { JudgedActor } from '../../../protocol/values/actors.js';
import { type Answer, type Caller, refusal } from './callers.js';
import { runIdOf } from './pending.js';

interface OffersOf {
  readonly tenant: string;
  readonly tools: readonly string[];
  readonly executors: readonly ['external'];
  readonly actor: JudgedActor;
}

/** A frame without an offer moves the position of the stream, and is no event of this protocol. */
type Frame =
  | { readonly type: 'offer'; readonly id: string; readonly offer: ToolOffer }
  | { readonly type: 'gone' | 'reset'; readonly id: string };

/** The part of a store's `toolOffers` that the stream uses. */
export interface CallOffers {
  offers(of: OffersOf, limit: number): Promise<unknown>;
  watchOffers(
    of: OffersOf,
    options: { readonly signal: AbortSignal; readonly after?: string },
  ): AsyncIterable<Frame>;
}

const MAX_TOOLS = 100;
const PING_MS = 30_000;
const RETRY_MS = 2_000;
const OFFER_ID = /^[\w.:-]{1,200}$/;

/** Resolves when the stream has ended; to an answer where none was opened. @throws errors of the store, likewise */
export async function streamCalls(
  offers: CallOffers,
  caller: Caller,
  { request, response, signal }: StreamOf,
): Promise<Answer | undefined> {
  if (caller.conversation !== undefined)
    return refusal(403, 'The caller may use one conversation only');
  const named = request.query['tools'];
  const tools = typeof named === 'string' ? named.split(',').filter((name) => name !== '') : [];
  if (tools.length === 0 || tools.length > MAX_TOOLS)
    return refusal(400, `tools must name 1 to ${MAX_TOOLS} tools, separated by commas`);
  const after = request.get('last-event-id');
  if (after !== undefined && !OFFER_ID.test(after))
    return refusal(400, 'Last-Event-ID must be an id that this stream has sent');
  const { tenant, actor } = caller;
  const of = { tenant, tools, executors: ['external'] as const, actor };
  // Read before the stream opens, so that a store that is not available is an error and not an empty stream.
  await offers.offers(of, 1);
  const frames = offers.watchOffers(of, { signal, ...(after === undefined ? {} : { after }) });
  await writeTexts(textsOf(frames), response, signal);
  return undefined;
}

export interface StreamOf {
  readonly request: Request;
  readonly response: Response;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

async function* textsOf(frames: AsyncIterable<Frame>): AsyncGenerator<string, void, undefined> {
  for await (const frame of frames) yield textOf(frame);
}

/** Answers with a stream of these texts, until they end or the signal aborts. */
export async function writeTexts(
  texts: AsyncIterable<string>,
  response: Response,
  signal: AbortSignal,
): Promise<void> {
  response.status(200);
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-cache, no-transform');
  response.setHeader('X-Accel-Buffering', 'no');
  // A HEAD request has no body to stream.
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.write(`: open\nretry: ${RETRY_MS}\n\n`);
  const ping = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': ping\n\n');
  }, PING_MS);
  try {
    for await (const text of texts) {
      if (signal.aborted) break;
      if (!response.write(text)) await once(response, 'drain', { signal }).catch(() => undefined);
    }
  } finally {
    clearInterval(ping);
    response.end();
  }
}

function textOf(frame: Frame): string {
  const position = `id: ${frame.id}\n`;
  return frame.type === 'offer'
    ? `${position}event: tool.call\ndata: ${JSON.stringify(callOf(frame.offer))}\n\n`
    : `${position}\n`;
}

/** Data of `tool.call`. */
function callOf({ conversationId, toolCallId, turnId, tool, input, openedAt }: ToolOffer): object {
  return {
    ...{ toolCallId, toolName: tool, args: input },
    runId: runIdOf(conversationId, turnId),
    agentEntityId: conversationId,
    ts: openedAt,
  };
}
