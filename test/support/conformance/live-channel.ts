/**
 * The contract of every adapter of the live channel port. `make` gives a publishing and a subscribing side; they may
 * be one.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import type { LiveChannel, LiveMessage } from '../../../src/store/ports/live.js';
import { delta, textDelta, textsOf } from '../samples/live-messages.js';
import { KEY } from '../samples/log-events.js';
import { until } from '../until.js';

export interface LiveSides {
  readonly publisher: LiveChannel;
  readonly subscriber: LiveChannel;
}

export function describeLiveChannel(name: string, make: () => LiveSides): void {
  describe(name, () => {
    let sides: LiveSides;
    beforeEach(() => {
      sides = make();
    });
    afterEach(async () => {
      await sides.publisher.close();
      await sides.subscriber.close();
    });

    function listen(key: ConversationKey = KEY, live = true) {
      const heard: LiveMessage[] = [];
      const stop = sides.subscriber.subscribe(key, { live }, (message) => heard.push(message));
      return { heard, stop };
    }

    async function connected(key: ConversationKey = KEY): Promise<void> {
      await until('the publisher knows of the watcher', () => sides.publisher.watched(key));
    }

    it('brings messages to subscribers of the conversation, in order', async () => {
      const { heard } = listen();
      await connected();
      sides.publisher.publish(delta('a'));
      sides.publisher.publish({ type: 'appended', ...KEY, generation: 1, lastSeq: 3 });
      sides.publisher.publish(delta('b', { ...KEY, conversationId: 'another' }));
      sides.publisher.publish(delta('c'));
      await until('three messages', () => heard.length, { holds: (count) => count === 3 });
      expect(textsOf(heard)).toEqual(['a', 'appended', 'c']);
    });

    it('brings what is shown to readers of a space', async () => {
      const { heard } = listen();
      await connected();
      const shown: readonly LiveMessage[] = [
        { type: 'writing', ...KEY, writing: { answer: 'a', attempt: 1 } },
        { type: 'read', ...KEY, read: { personId: 'ann', position: 3 } },
      ];
      for (const message of shown) sides.publisher.publish(message);
      await until('both', () => heard.length, { holds: (count) => count === 2 });
      expect(heard).toEqual(shown);
    });

    it('knows whether there are subscribers, and whether any of them wants live events', async () => {
      expect(sides.publisher.watched(KEY)).toBeUndefined();
      const waiter = listen(KEY, false);
      await connected();
      expect(sides.publisher.watched(KEY)).toEqual({ live: false });
      const watcher = listen();
      await until('a subscriber wants them', () => sides.publisher.watched(KEY)?.live);
      watcher.stop();
      await until('no subscriber wants them', () => sides.publisher.watched(KEY)?.live === false);
      waiter.stop();
      await until('no subscriber', () => sides.publisher.watched(KEY) === undefined);
    });

    it('spares subscribers that wait for the log the live events only', async () => {
      const waiter = listen(KEY, false);
      const watcher = listen();
      await until('a subscriber wants them', () => sides.publisher.watched(KEY)?.live);
      sides.publisher.publish(delta('a'));
      sides.publisher.publish({ type: 'appended', ...KEY, generation: 1, lastSeq: 3 });
      await until('both heard', () => waiter.heard.length > 0 && watcher.heard.length > 1);
      expect(textsOf(watcher.heard)).toEqual(['a', 'appended']);
      expect(textsOf(waiter.heard)).toEqual(['appended']);
    });

    it('notifies a publisher of each subscriber to live events, and of no other subscriber', async () => {
      let joins = 0;
      const stop = sides.publisher.onJoin(KEY, () => {
        joins += 1;
      });
      listen(KEY, false);
      listen({ ...KEY, conversationId: 'another' });
      await connected();
      expect(joins).toBe(0);
      for (let watchers = 1; watchers <= 3; watchers += 1) {
        const before = joins;
        listen();
        await until(`watcher ${watchers}`, () => joins > before);
      }
      stop();
      stop();
      const before = joins;
      const last = listen();
      sides.publisher.publish(delta('a'));
      await until('the last one hears', () => last.heard.length);
      expect(joins).toBe(before);
    });

    it('brings repeats only to subscribers that want live events', async () => {
      const waiter = listen(KEY, false);
      const watcher = listen();
      await until('a subscriber wants them', () => sides.publisher.watched(KEY)?.live);
      const again: LiveMessage = { type: 'so_far', ...KEY, event: textDelta('so far') };
      sides.publisher.publish(again);
      sides.publisher.publish({ type: 'appended', ...KEY, generation: 1, lastSeq: 3 });
      await until('both heard', () => waiter.heard.length > 0 && watcher.heard.length > 1);
      expect(watcher.heard[0]).toEqual(again);
      expect(textsOf(waiter.heard)).toEqual(['appended']);
    });

    it('brings nothing after a listener has stopped; stopping twice is fine', async () => {
      const [first, second] = [listen(), listen()];
      await connected();
      first.stop();
      first.stop();
      sides.publisher.publish(delta('a'));
      await until('the other one hears', () => second.heard.length);
      expect(first.heard).toEqual([]);
    });

    it('survives a listener that throws', async () => {
      sides.subscriber.subscribe(KEY, { live: true }, () => {
        throw new Error('broken listener');
      });
      const { heard } = listen();
      await connected();
      sides.publisher.publish(delta('a'));
      await until('the other one hears', () => heard.length);
    });

    it('takes every message without an error when there is no subscriber or the channel is closed', async () => {
      sides.publisher.publish(delta('a'));
      await sides.publisher.close();
      await sides.publisher.close();
      sides.publisher.publish(delta('b'));
      expect(sides.publisher.watched(KEY)).toBeUndefined();
      sides.publisher.subscribe(KEY, { live: false }, () => undefined)();
    });
  });
}
