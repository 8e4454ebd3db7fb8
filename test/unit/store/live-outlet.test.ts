import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Outlet } from '../../../src/store/live/outlet.js';
import type { LiveMessage } from '../../../src/store/live-port.js';
import { begun, delta } from '../../support/live-messages.js';
import { KEY } from '../../support/log-events.js';

const GROWN: LiveMessage = { type: 'appended', ...KEY, generation: 1, lastSeq: 7 };

/** What a process is sent, write by write, and when: milliseconds since the first message. */
function outlet() {
  const written: [atMs: number, ...lines: string[]][] = [];
  let corked: string[] = [];
  const beganAt = performance.now();
  const socket = {
    destroyed: false,
    writable: true,
    writableLength: 0,
    writableCorked: 0,
    cork: () => {
      socket.writableCorked += 1;
    },
    write: (line: string) => corked.push(line.trim()),
    uncork: () => {
      socket.writableCorked = 0;
      if (corked.length > 0) written.push([performance.now() - beganAt, ...corked]);
      corked = [];
    },
  };
  const sent = new Outlet(socket as unknown as Socket);
  const pass = (ms: number): void => {
    vi.advanceTimersByTime(ms);
  };
  return { sent, written, pass };
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  });
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

describe('what a subscribing process is sent', () => {
  it('goes out at once after a pause, and together what comes in one turn of the loop', () => {
    const { sent, written, pass } = outlet();
    sent.send('a', delta('a'));
    sent.send('b', GROWN);
    expect(written).toEqual([]);
    pass(0);
    expect(written).toEqual([[0, 'a', 'b']]);
    pass(10);
    sent.send('c', delta('c'));
    pass(0);
    expect(written.at(-1)).toEqual([10, 'c']);
  });

  it('is written again after ten milliseconds, with all that has come by then', () => {
    const { sent, written, pass } = outlet();
    sent.send('a', delta('a'));
    pass(1);
    sent.send('b', delta('b'));
    pass(5);
    sent.send('c', delta('c'));
    pass(100);
    expect(written).toEqual([
      [0, 'a'],
      [10, 'b', 'c'],
    ]);
  });

  it('is written after four where the log has grown, which takes along what waits', () => {
    const { sent, written, pass } = outlet();
    sent.send('a', delta('a'));
    pass(1);
    sent.send('b', delta('b'));
    sent.send('c', GROWN);
    pass(100);
    expect(written).toEqual([
      [0, 'a'],
      [4, 'b', 'c'],
    ]);
  });

  it('waits longest when a call began, unless something follows', () => {
    const { sent, written, pass } = outlet();
    sent.send('a', begun('call-1'));
    pass(20);
    expect(written).toEqual([]);
    pass(5);
    expect(written).toEqual([[25, 'a']]);
    pass(15);
    sent.send('b', begun('call-2'));
    pass(3);
    sent.send('c', delta('c'));
    pass(50);
    expect(written).toEqual([
      [25, 'a'],
      [43, 'b', 'c'],
    ]);
  });
});
