/** The contract of every store of spaces for writers and readers at the same time. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SpaceMessage } from '../../../../src/protocol/spaces/spaces.js';
import { promise } from '../../promise.js';
import { ANN, BOB, KEY, makerOf, type SpaceStores, text, tool } from './samples.js';

/** Writes of each writer. */
const WRITES = 60;

/** `connect` opens the same stores each time it is called. */
export function describeSpaceWriters(name: string, make: () => () => Promise<SpaceStores>): void {
  describe(name, () => {
    it(
      'two writers leave dense positions, and a reader of changes misses none',
      promise('G366'),
      async () => {
        const connect = make();
        const [one, other, reading] = await Promise.all([connect(), connect(), connect()]);
        onTestFinished(async () => {
          for (const { log } of [one, other, reading]) await log.close();
        });
        const { created } = makerOf(() => one.spaces);
        await created();
        await one.spaces.join({ ...KEY, member: BOB, nowMs: 1 });
        const writer = async ({ spaces }: SpaceStores, author: typeof ANN): Promise<void> => {
          for (let n = 0; n < WRITES; n += 1) {
            const message = { ...text(`${author.id}-${n}`), author };
            // A retry of a write that came through.
            for (let attempt = 0; attempt < 2; attempt += 1) await spaces.putMessage(message);
            const call = { ...message, id: `${author.id}-call`, ...tool('running', { n }) };
            if (n % 3 === 0) await spaces.putMessage(call);
          }
        };
        const seen = new Map<string, SpaceMessage>();
        const changes: number[] = [];
        let last = 0;
        const read = async (): Promise<void> => {
          for (const message of await reading.spaces.changes(KEY, { after: last, limit: 7 })) {
            seen.set(message.id, message);
            changes.push(message.change);
            last = message.change;
          }
        };
        let isOver = false;
        const reader = (async () => {
          while (!isOver) {
            await read();
            await new Promise((resolve) => {
              setImmediate(resolve);
            });
          }
          const { lastChange = 0 } = (await reading.spaces.space(KEY)) ?? {};
          while (last < lastChange) await read();
        })();
        await Promise.all([writer(one, ANN), writer(other, BOB)]);
        isOver = true;
        await reader;

        const total = 2 * WRITES + 2;
        const all = await one.spaces.messages(KEY, { limit: 1_000 });
        expect(all.map(({ position }) => position)).toEqual(
          Array.from({ length: total }, (_each, index) => index + 1),
        );
        expect([...seen.values()].toSorted((a, b) => a.position - b.position)).toEqual(all);
        expect(changes).toEqual([...new Set(changes)].toSorted((a, b) => a - b));
        for (const { id } of [ANN, BOB]) {
          const own = all.filter((each) => each.author.id === id && each.kind === 'text');
          expect(own.map((each) => each.id)).toEqual(
            Array.from({ length: WRITES }, (_each, n) => `${id}-${n}`),
          );
        }
      },
    );
  });
}
