/**
 * Formats and writes server-sent events. Canonical events carry `id: <generation>-<seq>`, so that a reconnect resumes
 * exactly after the last one received; live events carry none, so that they never move that position.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { once } from 'node:events';
import type { Request, Response } from 'express';
import type { OfferFrame, WatchFrame } from '../../client/ports/reader.js';
import { formatCursor } from '../../protocol/values/cursor.js';
import type { OpenStreams } from './streams.js';

/** Milliseconds that a client waits before it reconnects. */
export const RETRY_MS = 2_000;
/** Milliseconds; below the idle time-outs of the usual proxies (30 s and more). */
export const HEARTBEAT_MS = 15_000;

/** Formats one frame. JSON has no raw line breaks, so one data line is always enough. */
export function formatFrame(frame: WatchFrame): string {
  if (frame.type === 'live')
    return `event: live.${frame.event.type}\ndata: ${JSON.stringify(frame.event)}\n\n`;
  if (frame.type === 'nested') {
    const { type: _type, ...nested } = frame;
    return `event: nested.${frame.event.type}\ndata: ${JSON.stringify(nested)}\n\n`;
  }
  return `id: ${formatCursor(frame.cursor)}\nevent: ${frame.event.type}\ndata: ${JSON.stringify(frame.event)}\n\n`;
}

/** The same for offers of tool calls: each frame has an id. */
export function formatOffer(frame: OfferFrame): string {
  const data = frame.type === 'offer' ? frame.offer : frame.type === 'gone' ? frame.gone : {};
  return `id: ${frame.id}\nevent: ${frame.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

export interface StreamAnswer<Frame> {
  readonly streams: OpenStreams;
  /** @defaultValue HEARTBEAT_MS */
  readonly heartbeatMs?: number | undefined;
  readonly format: (frame: Frame) => string;
  /**
   * Begins to read; a rejection is answered by its problem, for the stream is not open yet. Undefined where nothing is
   * left to read: the answer is 204, after which a browser does not connect again.
   */
  readonly frames: (
    signal: AbortSignal,
  ) => AsyncIterable<Frame> | Promise<AsyncIterable<Frame> | undefined>;
}

/**
 * Answers with a stream, until the frames end, the client leaves or the caller may not have it any more.
 * @throws {ConversationError} rate_limited
 */
export async function answerWithStream<Frame>(
  request: Request,
  response: Response,
  { streams, heartbeatMs = HEARTBEAT_MS, format, frames }: StreamAnswer<Frame>,
): Promise<void> {
  // A HEAD request has no body to stream.
  if (request.method === 'HEAD') {
    response.type('text/event-stream').end();
    return;
  }
  const signal = streams.open(request, response);
  const opened = await frames(signal);
  if (opened === undefined) response.status(204).end();
  else await streamFrames(response, opened, { signal, heartbeatMs, format });
}

export interface StreamOptions<Frame> {
  readonly signal: AbortSignal;
  readonly heartbeatMs: number;
  /** The text of a frame, with the empty line at its end. */
  readonly format: (frame: Frame) => string;
}

/**
 * Writes frames until they end, the signal aborts or the client disconnects. The loop waits for a slow client, so no
 * frames accumulate; the reader drops live events that arrive meanwhile.
 */
export async function streamFrames<Frame>(
  response: Response,
  frames: AsyncIterable<Frame>,
  options: StreamOptions<Frame>,
): Promise<void> {
  openStream(response);
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': ping\n\n');
  }, options.heartbeatMs);
  try {
    for await (const frame of frames) {
      if (options.signal.aborted) break;
      if (!response.write(options.format(frame))) await drained(response, options.signal);
    }
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}

/** `no-transform` keeps compressors from holding frames back, `x-accel-buffering` keeps nginx from it. */
function openStream(response: Response): void {
  response.status(200);
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-cache, no-transform');
  response.setHeader('X-Accel-Buffering', 'no');
  response.setHeader('Connection', 'keep-alive');
  response.flushHeaders();
  response.write(`: open\nretry: ${RETRY_MS}\n\n`);
}

async function drained(response: Response, signal: AbortSignal): Promise<void> {
  // An abort is the normal end of a stream; the loop checks the signal.
  await once(response, 'drain', { signal }).catch(() => undefined);
}
