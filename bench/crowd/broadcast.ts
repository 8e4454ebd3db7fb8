/** The floor: a process that only writes frames, as many and as large as the API has, to as many readers. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONVERSATIONS, MESSAGES_PER_SECOND, PACE_MS, TOKENS } from './cells.js';

/** Events of the log for one message, and the characters of an event and of a piece of text, as measured at the API. */
const EVENTS = 6;
const EVENT = 'x'.repeat(400);
const PIECE = 'x'.repeat(180);

const readers = new Map<string, Set<ServerResponse>>();
const server = createServer((request, response) => {
  const name = request.url ?? '';
  const those = readers.get(name) ?? new Set();
  readers.set(name, those.add(response));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': open\n\n');
});
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

function send(name: string, frame: string): void {
  for (const response of readers.get(name) ?? []) response.write(frame);
}

const counts = new Map<string, number>();
function event(name: string): void {
  const seq = (counts.get(name) ?? 0) + 1;
  counts.set(name, seq);
  const data = JSON.stringify({ seq, at: new Date().toISOString(), text: EVENT });
  send(name, `id: 1-${seq}\nevent: event\ndata: ${data}\n\n`);
}

async function message(name: string): Promise<void> {
  for (let count = 0; count < EVENTS - 2; count += 1) event(name);
  for (let token = 0; token < TOKENS; token += 1) {
    send(name, `event: live.text_delta\ndata: ${PIECE}\n\n`);
    await sleep(PACE_MS);
  }
  for (let count = 0; count < 2; count += 1) event(name);
}

const loop = monitorEventLoopDelay({ resolution: 10 });
loop.enable();
let [next, first, most] = [0, 0, 0];
process.on('message', (asked) => {
  if (asked === 'begin') {
    first = process.memoryUsage().rss;
    loop.reset();
    setInterval(() => {
      void message(`/${next % CONVERSATIONS}`);
      next += 1;
    }, 1_000 / MESSAGES_PER_SECOND);
    setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 1_000);
    return;
  }
  const last = process.memoryUsage().rss;
  process.send?.({
    rssBytes: { first, last, most: Math.max(most, last) },
    loopDelayP99Ms: loop.percentile(99) / 1e6,
    loopDelayMaxMs: loop.max / 1e6,
  });
});
process.on('disconnect', () => process.exit());
