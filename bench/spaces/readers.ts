/**
 * The process of the readers: opens an event stream at each address that it is sent, and counts. A message's text ends
 * with `@` and the time at which it was sent.
 */
import { get } from 'node:http';
import { spreadOf } from '../shared/spread.js';
import type { Read } from './cells.js';

const delays: number[] = [];
let [messages, outOfOrder, cuts] = [0, 0, 0];

function read(url: string, authorization: string, opened: () => void): void {
  let last = 0;
  const headers = { accept: 'text/event-stream', authorization };
  get(url, { agent: false, headers }, (response) => {
    if (response.statusCode !== 200) throw new Error(`${url}: ${String(response.statusCode)}`);
    opened();
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const sentAt = /@(\d+)"/.exec(frame)?.[1];
        const position = Number(/"position":(\d+)/.exec(frame)?.[1] ?? 0);
        if (sentAt === undefined) continue;
        messages += 1;
        delays.push(Date.now() - Number(sentAt));
        if (position !== last + 1) outOfOrder += 1;
        last = position;
      }
    });
    response.on('close', () => {
      cuts += 1;
    });
  });
}

process.on(
  'message',
  (asked: { readonly urls: readonly string[]; readonly authorization: string } | 'report') => {
    if (asked === 'report') {
      const delay = spreadOf(delays.length === 0 ? [0] : delays);
      process.send?.({ messages, outOfOrder, cuts, delay } satisfies Read);
      return;
    }
    let open = 0;
    for (const url of asked.urls)
      read(url, asked.authorization, () => {
        open += 1;
        if (open === asked.urls.length) process.send?.('open');
      });
  },
);
process.on('disconnect', () => process.exit());
