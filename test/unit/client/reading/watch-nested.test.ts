/** The stream of a conversation with the live events of its sub-agents. */
import { describe, expect, it } from 'vitest';
import type { ConversationReader, WatchFrame } from '../../../../src/client/ports/reader.js';
import { watchNested } from '../../../../src/client/reading/watch-nested.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../../src/protocol/log/live-events.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

const key = { tenant: 'default', conversationId: 'lead' };

/** A reader whose logs the test writes. */
class Logs implements Pick<ConversationReader, 'watch' | 'snapshot'> {
  readonly watched: string[] = [];
  inFlight: { childId: string; toolCallId: string; name: string }[] = [];
  snapshotSeq = 0;
  readonly #frames = new Map<string, WatchFrame[]>();
  readonly #wakes = new Set<() => void>();

  write(id: string, frame: WatchFrame): void {
    this.#frames.set(id, [...(this.#frames.get(id) ?? []), frame]);
    for (const wake of this.#wakes) wake();
  }

  says(id: string, text: string): void {
    const event = {
      type: 'text_delta',
      turnId: `turn_${id}`,
      step: 1,
      attempt: 1,
      text,
      offset: 0,
    };
    this.write(id, { type: 'live', event: event as unknown as LiveEvent });
  }

  child(id: string, childId: string, status: string, seq = 1): void {
    const call = { toolCallId: `call_${childId}`, name: 'research' };
    const event = { type: 'child_changed', seq, childId, status, ...call };
    const cursor = { generation: 1, seq };
    this.write(id, { type: 'event', cursor, event: event as unknown as CanonicalEvent });
  }

  snapshot() {
    const found = { inFlightTools: this.inFlight, seq: this.snapshotSeq };
    return Promise.resolve(found as never);
  }

  async *watch(
    { conversationId }: typeof key,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<WatchFrame> {
    this.watched.push(conversationId);
    try {
      for (let next = 0; !signal.aborted; ) {
        const frame = this.#frames.get(conversationId)?.[next];
        if (frame !== undefined) {
          next += 1;
          yield frame;
        } else
          await new Promise<void>((resolve) => {
            this.#wakes.add(resolve);
            signal.addEventListener('abort', () => {
              resolve();
            });
          });
      }
    } finally {
      this.watched.splice(this.watched.indexOf(conversationId), 1);
    }
  }
}

/** Collects the frames until the test ends the stream. */
function collect(logs: Logs, after?: number) {
  const end = new AbortController();
  const position = after === undefined ? {} : { after: { generation: 1, seq: after } };
  const seen: string[] = [];
  const reading = (async () => {
    for await (const frame of watchNested(logs, key, { ...position, signal: end.signal }))
      seen.push(shown(frame));
  })();
  return { seen, end, reading };
}

function shown(frame: WatchFrame): string {
  const { event } = frame;
  const text = 'text' in event ? event.text : event.type;
  if (frame.type !== 'nested') return `${frame.type} ${text}`;
  const path = frame.path.map(({ conversationId, name }) => `${conversationId}.${name}`);
  return `${path.join('>')}>${frame.conversationId} ${text}`;
}

const has = (seen: readonly string[], wanted: string) =>
  until(wanted, () => seen, { holds: (all) => all.includes(wanted) });

describe('a stream with nested events', promise('G336'), () => {
  it('has the live events of sub-agents at any depth, with their path, and not their logs', async () => {
    const logs = new Logs();
    const { seen, end, reading } = collect(logs);
    logs.says('lead', 'I ask.');
    logs.child('lead', 'a', 'started');
    logs.child('a', 'b', 'started');
    logs.says('b', 'Looking.');
    await has(seen, 'lead.research>a.research>b Looking.');
    logs.says('a', 'Found.');
    await has(seen, 'lead.research>a Found.');
    logs.child('lead', 'a', 'ended', 2);
    logs.says('lead', 'Done.');
    await has(seen, 'live Done.');
    await until('nothing below is watched', () => logs.watched, {
      holds: (watched) => watched.join() === 'lead',
    });
    expect(seen).toEqual([
      'live I ask.',
      'event child_changed',
      'lead.research>a.research>b Looking.',
      'lead.research>a Found.',
      'event child_changed',
      'live Done.',
    ]);
    end.abort();
    await reading;
    await until('no log is watched', () => logs.watched, { holds: ({ length }) => length === 0 });
  });

  it('that continues from a position has those that began before it', async () => {
    const logs = new Logs();
    logs.inFlight = [{ childId: 'a', toolCallId: 'call_a', name: 'research' }];
    logs.snapshotSeq = 7;
    // The log shows again what the snapshot has: one that has ended, and one that is at work.
    logs.child('lead', 'old', 'started', 5);
    logs.child('lead', 'a', 'started', 6);
    const { seen, end, reading } = collect(logs, 4);
    logs.says('old', 'Never heard.');
    logs.says('a', 'Still at work.');
    await has(seen, 'lead.research>a Still at work.');
    expect(logs.watched.sort()).toEqual(['a', 'lead']);
    end.abort();
    await reading;
  });

  it('keeps the order of the log and loses live events while its reader is slow', async () => {
    const logs = new Logs();
    const frames = watchNested(logs, key, { signal: new AbortController().signal });
    logs.child('lead', 'a', 'started');
    expect(shown((await frames.next()).value as WatchFrame)).toBe('event child_changed');
    for (let number = 0; number < 1_000; number += 1) logs.says('a', `${number}`);
    logs.says('lead', 'Done.');
    // The reader is slow: all that was streamed meanwhile has come.
    await new Promise((resolve) => setTimeout(resolve, 30));
    const seen: string[] = [];
    while (seen.at(-1) !== 'live Done.')
      seen.push(shown((await frames.next()).value as WatchFrame));
    expect(seen.length).toBeLessThan(300);
    await frames.return(undefined);
    await until('no log is watched', () => logs.watched, { holds: ({ length }) => length === 0 });
  });

  it('fails where the log of the conversation itself does, and goes on where another does', async () => {
    const logs = new Logs();
    const watch = logs.watch.bind(logs);
    logs.watch = (about, options) => {
      if (about.conversationId === 'a') throw new Error('not read');
      return watch(about, options);
    };
    const { seen, end, reading } = collect(logs);
    logs.child('lead', 'a', 'started');
    logs.says('lead', 'Done.');
    await has(seen, 'live Done.');
    end.abort();
    await reading;
    logs.watch = () => {
      throw new Error('the store is down');
    };
    await expect(collect(logs).reading).rejects.toThrow('the store is down');
  });
});
