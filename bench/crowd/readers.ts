/**
 * The process of the readers: opens 500 event streams at an address, each of the conversation of its turn, and counts.
 * `args`: the address with `{n}` for the number of the conversation, and the header `authorization`.
 */
import { get } from 'node:http';
import { spreadOf } from '../shared/spread.js';
import { CONVERSATIONS, READERS, type Seen } from './cells.js';

const [pattern = '', authorization = ''] = process.argv.slice(2);
const headers = { accept: 'text/event-stream', authorization };
const delays: number[] = [];
const lastIds: string[] = Array.from({ length: READERS }, () => '');
let [frames, events, outOfOrder, cuts, open] = [0, 0, 0, 0, 0];

function take(reader: number, frame: string): void {
  frames += 1;
  const id = /^id: (\S+)$/m.exec(frame)?.[1];
  if (id === undefined) return;
  events += 1;
  const [before, now] = [lastIds[reader] ?? '', id].map((text) => Number(text.split('-')[1] ?? 0));
  if (now !== (before ?? 0) + 1) outOfOrder += 1;
  lastIds[reader] = id;
  const at = /"at":"([^"]+)"/.exec(frame)?.[1];
  if (at !== undefined) delays.push(Date.now() - Date.parse(at));
}

function read(reader: number): void {
  const url = pattern.replace('{n}', String(reader % CONVERSATIONS));
  get(url, { agent: false, headers }, (response) => {
    if (response.statusCode !== 200) throw new Error(`${url}: ${String(response.statusCode)}`);
    open += 1;
    if (open === READERS) process.send?.('open');
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) if (!part.startsWith(':')) take(reader, part);
    });
    response.on('close', () => {
      cuts += 1;
    });
  });
}

for (let reader = 0; reader < READERS; reader += 1) read(reader);
process.on('message', (asked) => {
  if (asked === 'forget') {
    delays.length = 0;
    return;
  }
  const delay = spreadOf(delays.length === 0 ? [0] : delays);
  process.send?.({ frames, events, outOfOrder, cuts, delay, lastIds } satisfies Seen);
});
process.on('disconnect', () => process.exit());
