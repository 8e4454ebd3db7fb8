/** The watch of other workers: the loss of one that falls silent without having stopped is handled, once. */
import { describe, expect, it } from 'vitest';
import { LossWatch } from '../../../../src/projection/projector/loss-watch.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

class FakePresence {
  silent: string[] = [];
  /** Live workers, with those that are silent. */
  live = 1;
  /** Times after which workers counted as silent. */
  readonly limits: number[] = [];
  beats = 0;
  checks = 0;

  watch(beatMs?: number, now?: () => number): LossWatch {
    return new LossWatch({
      id: 'me',
      log: {
        beatWorker: async () => {
          this.beats += 1;
        },
        silentWorkers: (forMs) => {
          if (forMs === 0) return Promise.resolve(Array.from({ length: this.live }, String));
          this.limits.push(forMs);
          return Promise.resolve(this.silent);
        },
      },
      check: async () => {
        this.checks += 1;
      },
      ...(beatMs === undefined ? {} : { beatMs }),
      ...(now === undefined ? {} : { now }),
    });
  }
}

describe('a worker that watches others', () => {
  it.each<[what: string, beats: readonly (readonly string[])[], checks: number]>([
    ['none is silent', [[], [], []], 0],
    ['one falls silent, and stays so', [[], ['a'], ['a'], ['a']], 1],
    ['one was silent before this worker began', [['a'], ['a'], []], 0],
    ['two fall silent, one after the other', [[], ['a'], ['a', 'b'], ['b']], 2],
    ['two fall silent at once', [[], ['a', 'b']], 1],
    ['one comes back, and falls silent again', [[], ['a'], [], ['a']], 2],
    ['it was held up itself', [[], ['me'], []], 0],
  ])('checks the store where %s', promise('G233'), async (_what, beats, checks) => {
    const presence = new FakePresence();
    const watch = presence.watch();
    for (const silent of beats) {
      presence.silent = [...silent];
      await watch.beat();
    }
    expect(presence.checks).toBe(checks);
    expect(presence.beats).toBe(beats.length);
  });

  it('allows others the delay of its own beat: a machine that was held up as a whole has lost none', {
    ...promise('G233'),
  }, async () => {
    const presence = new FakePresence();
    let now = 0;
    const watch = presence.watch(400, () => now);
    for (const passed of [0, 400, 3_400, 400]) {
      now += passed;
      await watch.beat();
    }
    expect(presence.limits).toEqual([1_000, 1_000, 4_000, 1_000]);
  });

  it.each([
    ['alone', 1, 0, 400, 1_000],
    ['among sixteen', 16, 0, 400, 1_000],
    ['among sixty-four', 64, 0, 1_600, 4_000],
    ['among sixty-four of which sixty were lost', 64, 60, 400, 1_000],
  ])(
    'sends a bounded number of beats together with all others: %s',
    async (_what, live, lost, beatMs, silentMs) => {
      const presence = new FakePresence();
      const watch = presence.watch(400, () => 0);
      presence.live = live;
      presence.silent = Array.from({ length: lost }, (_, nth) => `lost-${nth}`);
      await watch.beat();
      expect(watch.beatMs).toBe(beatMs);
      await watch.beat();
      expect(presence.limits.at(-1)).toBe(silentMs);
      presence.live = 1;
      presence.silent = [];
      for (let beats = 0; beats < 10; beats += 1) await watch.beat();
      expect(watch.beatMs).toBe(400);
    },
  );

  it('continues after beats that the store did not accept, until it is stopped', async () => {
    const presence = new FakePresence();
    let isDown = true;
    const watch = new LossWatch({
      id: 'me',
      beatMs: 1,
      log: {
        beatWorker: async () => {
          presence.beats += 1;
          if (isDown) throw new Error('the disk is gone');
        },
        silentWorkers: (forMs) => Promise.resolve(forMs === 0 ? [] : presence.silent),
      },
      check: async () => {
        presence.checks += 1;
      },
    });
    watch.start();
    await until('it has tried', () => presence.beats > 2);
    isDown = false;
    const tried = presence.beats;
    await until('it beats', () => presence.beats > tried + 2);
    presence.silent = ['a'];
    await until('the check runs', () => presence.checks === 1);
    await watch.stop();
    const { beats } = presence;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(presence.beats).toBe(beats);
  });
});
