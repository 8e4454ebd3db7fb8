/** A page that follows the worklist: the whole list, its changes, and lost connections. */
import { afterEach, describe, expect, it } from 'vitest';
import { createBrowserClient } from '../../../src/browser/index.js';
import {
  type BrowserWorklist,
  type WorklistChoice,
  worklistOf,
} from '../../../src/browser/worklist/index.js';
import {
  FakeStream,
  type FetchCall,
  json,
  problem,
  scriptedFetch,
} from '../../support/pages/scripted-fetch.js';
import { until } from '../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000 };
const opened: BrowserWorklist[] = [];

afterEach(() => {
  for (const worklist of opened.splice(0)) worklist.stop();
});

function page(choice?: WorklistChoice, answer?: (call: FetchCall) => Response | undefined) {
  const streams: FakeStream[] = [];
  const { fetch, calls } = scriptedFetch((call) => {
    const given = answer?.(call);
    if (given !== undefined) return given;
    const stream = new FakeStream();
    streams.push(stream);
    return stream.response;
  });
  const worklist = worklistOf(createBrowserClient({ baseUrl: '', fetch, timing: QUICK }), choice);
  opened.push(worklist);
  worklist.open();
  worklist.open();
  return { worklist, calls, streams };
}

const frame = (event: string, data: object, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const items = (...refs: readonly string[]) => refs.map((ref) => ({ ref, tool: 'pay' }));
const shown = (worklist: BrowserWorklist) =>
  worklist
    .getSnapshot()
    .items.map(({ ref }) => ref)
    .join(' ');
const shows = async (worklist: BrowserWorklist, refs: string) =>
  await until(`the list is "${refs}"`, () => shown(worklist) === refs);

describe('a page that follows the worklist', () => {
  it('shows the whole list once it is there, and its changes', async () => {
    const { worklist, calls, streams } = page({ mine: false, risk: 'high' });
    await until('the stream is open', () => streams.length === 1);
    expect(calls.map(({ path }) => path)).toEqual(['/v1/worklist/stream?mine=false&risk=high']);
    streams[0]?.send(frame('snapshot', { items: items('a'), first: true, last: false }));
    streams[0]?.send(frame('counts', { counts: { total: 2 } }));
    await until('counts', () => worklist.getSnapshot().counts?.total === 2);
    expect([shown(worklist), worklist.getSnapshot().isRead]).toEqual(['', false]);
    streams[0]?.send(frame('snapshot', { items: items('b'), first: false, last: true }, '1'));
    await shows(worklist, 'a b');
    streams[0]?.send(frame('item', { item: { ref: 'c' } }, '2'), frame('gone', { ref: 'a' }, '3'));
    streams[0]?.send(frame('later_version', {}, '4'));
    await shows(worklist, 'b c');
    expect(worklist.getSnapshot()).toMatchObject({ isRead: true, connection: { state: 'live' } });
  });

  it('comes back with the name of its list, and keeps it meanwhile; equal items stay the same', async () => {
    const { worklist, calls, streams } = page();
    await until('the stream is open', () => streams.length === 1);
    streams[0]?.send(frame('snapshot', { items: items('a', 'b'), first: true, last: true }, '7'));
    await shows(worklist, 'a b');
    const [before] = worklist.getSnapshot().items;
    streams[0]?.cut();
    await until('another stream', () => streams.length === 2);
    expect(calls.at(-1)?.path).toBe('/v1/worklist/stream?after=7');
    expect(shown(worklist)).toBe('a b');
    streams[1]?.send(frame('snapshot', { items: items('a'), first: true, last: true }, '8'));
    await shows(worklist, 'a');
    expect(worklist.getSnapshot().items[0]).toBe(before);
  });

  it('ends where the API refuses, begins anew by open, and is over by stop', async () => {
    let refuses = true;
    const { worklist, streams } = page({}, () => (refuses ? problem(403, 'forbidden') : undefined));
    await until('the refusal', () => worklist.getSnapshot().connection.state === 'refused');
    refuses = false;
    worklist.open();
    await until('the stream is open', () => streams.length === 1);
    worklist.stop();
    expect(worklist.getSnapshot().connection).toEqual({ state: 'off' });
    await until('the reader has left', () => streams[0]?.isCancelled);
  });
});

it('the session is the identity that the API sees', async () => {
  const caller = { actor: { id: 'ann' }, verified: true, tenants: ['default'], rights: ['read'] };
  const { fetch, calls } = scriptedFetch(() => json(caller));
  expect(await createBrowserClient({ baseUrl: '', fetch }).session()).toEqual(caller);
  expect(calls.map(({ path }) => path)).toEqual(['/v1/session']);
});
