/** A page that follows one turn: lost connections, the end, refusals. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type ApiError,
  createBrowserClient,
  type FollowTurnOptions,
  type TurnFrame,
} from '../../../src/browser/index.js';
import { frameOf, framesOf } from '../../../src/browser/net/stream.js';
import { BackOff } from '../../../src/net/retries.js';
import { formatCursor } from '../../../src/protocol/values/cursor.js';
import {
  FakeStream,
  frameText,
  problem,
  scriptedFetch,
} from '../../support/pages/scripted-fetch.js';
import { promise } from '../../support/promise.js';
import { textDelta } from '../../support/samples/live-messages.js';
import { closes, stamped, started, turn } from '../../support/samples/log-events.js';
import { until } from '../../support/until.js';

const TIMING = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000 };
/** Seqs 2 to 6. */
const EVENTS = stamped([started(), ...turn('t1')]).slice(1);
const PLACES = EVENTS.map(({ seq, type }) => `1-${seq} ${type}`);

function texts(...seqs: readonly number[]): string {
  return EVENTS.filter(({ seq }) => seqs.includes(seq))
    .map((event) => frameText(event, 1))
    .join('');
}

/** Connections as these functions answer them, one after another; the last one answers all others. */
function following(
  answers: readonly (() => Response)[],
  options: FollowTurnOptions = {},
  silenceMs = 10_000,
) {
  const rest = [...answers];
  const { fetch, calls } = scriptedFetch(() => {
    const answer = rest.length > 1 ? rest.shift() : rest[0];
    if (answer === undefined) throw new Error('no answer');
    return answer();
  });
  const timing = { ...TIMING, silenceMs };
  const client = createBrowserClient({ baseUrl: '', fetch, timing, tenant: 'acme' });
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const frames: TurnFrame[] = [];
  const over = (async () => {
    for await (const frame of client.followTurn('t1', { signal: leaving.signal, ...options }))
      frames.push(frame);
  })();
  const places = () =>
    frames.map((frame) =>
      frame.type === 'event' ? `${formatCursor(frame.cursor)} ${frame.event.type}` : 'live',
    );
  return { calls, over, places, leave: () => leaving.abort() };
}

describe('followTurn', promise('G417'), () => {
  it('has the events of the turn, and is over with the one that ends it', async () => {
    const stream = new FakeStream();
    stream.send(texts(2, 3), textDelta('h'), texts(4, 5, 6));
    const { over, places, calls } = following([() => stream.response]);
    await over;
    expect(places()).toEqual([...PLACES.slice(0, 2), 'live', ...PLACES.slice(2)]);
    // Turns belong to no tenant of the address.
    expect(calls.map(({ path }) => path)).toEqual(['/v1/turns/t1/stream']);
    expect(calls[0]?.headers.get('accept')).toBe('text/event-stream');
    expect(calls[0]?.headers.has('last-event-id')).toBe(false);
    expect(stream.isCancelled).toBe(true);
  });

  it('goes on behind the last event that came, over connections that are lost', async () => {
    const [first, second, third] = [new FakeStream(), new FakeStream(), new FakeStream()];
    const unavailable = () => problem(503, 'store_unavailable');
    const { over, places, calls } = following([
      () => first.response,
      () => second.response,
      unavailable,
      () => third.response,
    ]);
    first.send(texts(2, 3));
    await until('the beginning', () => places().length === 2);
    first.cut();
    await until('it is open again', () => calls.length === 2);
    second.send(texts(4));
    await until('one more', () => places().length === 3);
    second.end();
    third.send(texts(5, 6));
    await over;
    expect(places()).toEqual(PLACES);
    expect(calls.map(({ headers }) => headers.get('last-event-id'))).toEqual([
      ...[null, '1-3', '1-4', '1-4'],
    ]);
  });

  it('is over where nothing is left, also for a turn without an end of its own', async () => {
    const stream = new FakeStream();
    const [closed] = stamped([closes()], { from: 4 });
    if (closed === undefined) throw new Error('no event');
    stream.send(texts(2, 3), frameText(closed, 1));
    stream.end();
    const { over, places, calls } = following([
      () => stream.response,
      () => new Response(null, { status: 204 }),
    ]);
    await over;
    expect(places()).toEqual([...PLACES.slice(0, 2), '1-4 conversation_closed']);
    expect(calls.at(-1)?.headers.get('last-event-id')).toBe('1-4');
  });

  it('begins behind the place that it gets', async () => {
    const stream = new FakeStream();
    stream.send(texts(5, 6));
    const after = { generation: 1, seq: 4 };
    const { over, places, calls } = following([() => stream.response], { after });
    await over;
    expect(places()).toEqual(PLACES.slice(3));
    expect(calls[0]?.headers.get('last-event-id')).toBe('1-4');
  });

  it('throws the problem of a refusal, and asks no more', async () => {
    const { over, calls } = following([() => problem(404, 'unknown_turn')]);
    const error = await over.catch((caught: unknown) => caught);
    expect((error as ApiError).problem).toMatchObject({ status: 404, code: 'unknown_turn' });
    expect(calls).toHaveLength(1);
  });

  it('takes a silent connection for a lost one', async () => {
    const [silent, stream] = [new FakeStream(), new FakeStream()];
    silent.send(texts(2, 3));
    stream.send(texts(4, 5, 6));
    const { over, places } = following([() => silent.response, () => stream.response], {}, 40);
    await over;
    expect(places()).toEqual(PLACES);
    expect(silent.isCancelled).toBe(true);
  });

  it('waits longer each time, while a server that stops answers with streams of no frames', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const next = vi.spyOn(BackOff.prototype, 'next');
    onTestFinished(() => void vi.restoreAllMocks());
    const emptyOnes = Array.from({ length: 3 }, () => new FakeStream());
    for (const empty of emptyOnes) {
      empty.send(': open\nretry: 2000\n\n');
      empty.send(': ping\n\n');
      empty.end();
    }
    const [begun, rest] = [new FakeStream(), new FakeStream()];
    begun.send(texts(2, 3));
    begun.end();
    rest.send(texts(4, 5, 6));
    const answers = [...emptyOnes, begun, rest].map((stream) => () => stream.response);
    const { over, places } = following(answers);
    await over;
    expect(places()).toEqual(PLACES);
    // Milliseconds; an event is a sign of health.
    expect(next.mock.results.map(({ value }) => Number(value))).toEqual([2, 4, 8, 2]);
  });

  it('throws once the conversation is deleted, whose stream ends', async () => {
    const stream = new FakeStream();
    stream.send(texts(2, 3));
    stream.end();
    const { over, places } = following([() => stream.response, () => problem(404, 'unknown_turn')]);
    await expect(over).rejects.toMatchObject({ problem: { code: 'unknown_turn' } });
    expect(places()).toEqual(PLACES.slice(0, 2));
  });

  it('takes no reader that is slow for a silent connection', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const stream = new FakeStream();
    stream.send(texts(2, 3));
    const { signal } = new AbortController();
    const pieces = framesOf(stream.response, { silenceMs: 40, signal, frameOf });
    expect((await pieces.next()).value).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    const next = pieces.next();
    await Promise.race([next, vi.advanceTimersByTimeAsync(5)]);
    stream.send(texts(4));
    expect((await next).value).toMatchObject([{ event: { seq: 4 } }]);
    await pieces.return();
  });

  it('ends its connection with the signal, and when the loop is left', async () => {
    const streams = [new FakeStream(), new FakeStream()] as const;
    for (const stream of streams) stream.send(texts(2, 3));
    const { over, places, leave } = following([() => streams[0].response]);
    await until('the beginning', () => places().length === 2);
    leave();
    await over;
    await until('the reader has left', () => streams[0].isCancelled);
    const { fetch } = scriptedFetch(() => streams[1].response);
    const client = createBrowserClient({ baseUrl: '', fetch });
    for await (const frame of client.followTurn('t1')) if (frame.type === 'event') break;
    await until('the reader has left', () => streams[1].isCancelled);
  });
});
