import { describe, expect, it, onTestFinished } from 'vitest';

import type { ConversationReader, WatchFrame } from '../../../../src/client/ports/reader.js';
import type { LogCursor } from '../../../../src/protocol/values/cursor.js';
import { formatCursor } from '../../../../src/protocol/values/cursor.js';
import type { LiveMessage } from '../../../../src/store/ports/live.js';
import { promise } from '../../../support/promise.js';
import { delta, textDelta } from '../../../support/samples/live-messages.js';
import { closes, KEY, stamped, started, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aReader } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);
const OTHER = stamped([...turn('t2', 'another'), ...turn('t3')], { from: 7, clock: 9 });
const AGAIN = stamped([started(KEY, 'chain1'), ...turn('t9')], { clock: 5 });

/** Follows a log in the background; `frames` grows. */
function follow(reader: ConversationReader, after?: LogCursor) {
  const frames: WatchFrame[] = [];
  const controller = new AbortController();
  const done = (async () => {
    const position = after === undefined ? {} : { after };
    for await (const frame of reader.watch(KEY, { ...position, signal: controller.signal }))
      frames.push(frame);
  })();
  const stop = async () => {
    controller.abort();
    await done;
  };
  onTestFinished(stop);
  return { frames, stop };
}

function said(text: string, of: Parameters<typeof textDelta>[1] = {}): LiveMessage {
  return { type: 'live', ...KEY, event: textDelta(text, of) };
}

function shown(frames: readonly WatchFrame[]): readonly string[] {
  return frames.map((frame) => {
    if (frame.type === 'event') return formatCursor(frame.cursor);
    return frame.event.type === 'text_delta' ? frame.event.text : frame.event.type;
  });
}

async function shows(frames: readonly WatchFrame[], expected: readonly string[]): Promise<void> {
  await until('frames', () => shown(frames), { holds: (seen) => seen.length >= expected.length });
  expect(shown(frames)).toEqual(expected);
}

function cursors(generation: number, from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${generation}-${from + index}`);
}

describe.each([
  ['with a live channel', true],
  ['without a live channel', false],
])('watching a log %s', (_name, withLive) => {
  it('gives the log and then its tail, without gap or repeat, from every cursor', async () => {
    const { reader, store } = await aReader({ withLive });
    await store(LOG.slice(0, 6));
    const watchers = [0, 1, 2, 3, 4, 5, 6].map((seq) =>
      follow(reader, seq === 0 ? undefined : { generation: 1, seq }),
    );
    for (let count = 7; count <= LOG.length; count += 1) await store(LOG.slice(0, count));
    for (const [seq, { frames }] of watchers.entries())
      await shows(frames, cursors(1, seq + 1, LOG.length));
  });

  it('waits for a conversation that is not there yet', async () => {
    const { reader, store } = await aReader({ withLive });
    const { frames } = follow(reader);
    await store(LOG.slice(0, 2));
    await shows(frames, ['1-1', '1-2']);
  });

  it('gives the marker and the whole new generation when the log is rewritten', async () => {
    const { reader, store } = await aReader({ withLive });
    await store(LOG);
    const { frames } = follow(reader, { generation: 1, seq: 9 });
    await shows(frames, cursors(1, 10, 11));
    await store(OTHER, 'run-b');
    await shows(frames, [...cursors(1, 10, 11), ...cursors(2, 0, 16)]);
    expect(frames[2]).toMatchObject({ event: { type: 'log_rewritten', divergedAtSeq: 7 } });
    await store(stamped([closes()], { from: 17 }), 'run-b');
    await shows(frames, [...cursors(1, 10, 11), ...cursors(2, 0, 17)]);
  });

  it('gives the marker and all of a shorter log that has begun under the id of a deleted conversation', {
    ...promise('G251'),
  }, async () => {
    const { reader, log, store } = await aReader({ withLive });
    await store(LOG);
    await log.beginDeletion({ ...KEY, runIds: [] });
    await store(AGAIN, 'run-b');
    const { frames } = follow(reader, { generation: 1, seq: 9 });
    await shows(frames, cursors(2, 0, AGAIN.length));
    expect(frames[0]).toMatchObject({ event: { type: 'log_rewritten', previousGeneration: 1 } });
    const { frames: anew } = follow(reader);
    await shows(anew, cursors(2, 1, AGAIN.length));
  });

  it('ends when the signal aborts, and leaves no watcher behind', async () => {
    const { reader, store, live } = await aReader({ withLive });
    await store(LOG);
    const { frames, stop } = follow(reader);
    await shows(frames, cursors(1, 1, 11));
    await stop();
    expect(live.watched(KEY)).toBeUndefined();
  });

  it('continues when the store was down for a while', async () => {
    const { reader, store, outage } = await aReader({ withLive });
    await store(LOG.slice(0, 2));
    const { frames } = follow(reader);
    await shows(frames, ['1-1', '1-2']);
    outage.isDown = true;
    await until('a read without result', () => outage.refused > 0);
    outage.isDown = false;
    await store(LOG.slice(0, 3));
    await shows(frames, ['1-1', '1-2', '1-3']);
  });
});

describe('watching with live events', () => {
  it('gives them between the events of the log, in the order in which they came', async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 3));
    const { frames } = follow(reader);
    await shows(frames, cursors(1, 1, 3));
    live.publish(said('one'));
    live.publish(said('two', { offset: 3 }));
    await store(LOG.slice(0, 6));
    await shows(frames, ['1-1', '1-2', '1-3', 'one', 'two', '1-4', '1-5', '1-6']);
  });

  it('leaves out what a canonical event has superseded', async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 5));
    const { frames } = follow(reader);
    await shows(frames, cursors(1, 1, 5));
    live.publish(delta('late'));
    await store(LOG.slice(0, 8));
    await shows(frames, cursors(1, 1, 8));
  });

  it('drops pieces of an attempt once a later one has begun', {
    ...promise('G103', 'N29'),
  }, async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 3));
    const { frames } = follow(reader);
    await shows(frames, cursors(1, 1, 3));
    live.publish(said('one'));
    live.publish(said('eins', { attempt: 2 }));
    live.publish(said(' two', { offset: 3 }));
    live.publish(said(' zwei', { attempt: 2, offset: 4 }));
    await store(LOG.slice(0, 4));
    await shows(frames, ['1-1', '1-2', '1-3', 'one', 'eins', ' zwei', '1-4']);
  });

  it('gives a reader that joins late the text so far, and the others nothing twice', {
    ...promise('G105'),
  }, async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 3));
    let text = '';
    live.onJoin(KEY, () => {
      if (text !== '') live.publish({ type: 'so_far', ...KEY, event: textDelta(text) });
    });
    const says = (more: string): void => {
      live.publish(said(more, { offset: text.length }));
      text += more;
    };
    const first = follow(reader);
    await shows(first.frames, cursors(1, 1, 3));
    says('one');
    says(' two');
    const second = follow(reader, { generation: 1, seq: 2 });
    await shows(second.frames, ['1-3', 'one two']);
    says(' three');
    await shows(first.frames, [...cursors(1, 1, 3), 'one', ' two', ' three']);
    await shows(second.frames, ['1-3', 'one two', ' three']);
  });

  it('requests pieces that were lost on the way, and gives all of them in order', {
    ...promise('G105'),
  }, async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 3));
    const { frames } = follow(reader);
    await shows(frames, cursors(1, 1, 3));
    let asked = 0;
    live.onJoin(KEY, () => {
      asked += 1;
      live.publish({ type: 'so_far', ...KEY, event: textDelta('one two three') });
    });
    live.publish(said('one'));
    // ` two` was lost.
    live.publish(said(' three', { offset: 7 }));
    live.publish(said(' four', { offset: 13 }));
    await store(LOG.slice(0, 4));
    await shows(frames, ['1-1', '1-2', '1-3', 'one', ' two three', ' four', '1-4']);
    expect(asked).toBe(1);
  });

  it('shows the gap where no publisher repeats the text', promise('G105'), async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 3));
    const { frames } = follow(reader);
    await shows(frames, cursors(1, 1, 3));
    for (let count = 1; count <= 20; count += 1) live.publish(said('x', { offset: count }));
    await until('the text', () => shown(frames).filter((text) => text === 'x').length, {
      holds: (count) => count === 20,
    });
  });

  it('keeps a bounded number of them for a reader that does not read', async () => {
    const { reader, store, live } = await aReader();
    await store(LOG.slice(0, 3));
    const controller = new AbortController();
    const iterator = reader.watch(KEY, { signal: controller.signal })[Symbol.asyncIterator]();
    await iterator.next();
    for (let count = 0; count < 5_000; count += 1) live.publish(said('x', { offset: count }));
    const offsets: number[] = [];
    await store(LOG.slice(0, 4));
    for (let frame = await iterator.next(); ; frame = await iterator.next()) {
      if (frame.done === true || (frame.value.type === 'event' && frame.value.event.seq === 4))
        break;
      if (frame.value.type === 'live' && frame.value.event.type === 'text_delta')
        offsets.push(frame.value.event.offset);
    }
    expect(offsets.length).toBeLessThanOrEqual(2_000);
    expect(offsets.at(-1)).toBe(4_999);
    await iterator.return?.();
    expect(live.watched(KEY)).toBeUndefined();
  });
});
