/** Newline-delimited JSON over a local socket, bounded in both directions. */
import type { Socket } from 'node:net';

import { isRecord } from '../../protocol/values/json.js';

/** A peer with this much unread data is slow: further messages are dropped, not queued. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** A longer line does not come from this channel. */
const MAX_LINE_CHARS = 4 * 1024 * 1024;

/** An interest that a subscribing process sends to a publishing one. */
export type Interest =
  | { readonly watch: string; readonly live: boolean }
  | { readonly unwatch: string };

/** False when the peer is slow or gone; messages for it are dropped. */
export function canTake(socket: Socket): boolean {
  return !socket.destroyed && socket.writable && socket.writableLength <= MAX_UNREAD_BYTES;
}

/** Sends one line, or drops it. */
export function sendLine(socket: Socket, line: string): void {
  if (canTake(socket)) socket.write(`${line}\n`);
}

/** Sends an interest, which must not be dropped: a peer that cannot take it is disconnected, and connects again. */
export function sendInterest(socket: Socket, interest: Interest): void {
  if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  else sendLine(socket, JSON.stringify(interest));
}

/** Calls back for each line that is a JSON object; other lines are skipped. */
export function onLines(
  socket: Socket,
  receive: (value: Readonly<Record<string, unknown>>) => void,
): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) socket.destroy();
    for (const line of lines) {
      const value = parsed(line);
      if (isRecord(value)) receive(value);
    }
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
