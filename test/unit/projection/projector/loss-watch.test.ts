/** The watch of other workers: the loss of one that falls silent without having stopped is handled, once. */
import { describe, expect, it } from 'vitest';
import { LossWatch } from '../../../../src/projection/projector/loss-watch.js';
import { promise } from '../../../support/promise.js';
import { until } from '../../../support/until.js';

class FakePresence {
  silent: string[] = [];
  beats = 0;
  checks = 0;

  watch(beatMs?: number): LossWatch {
    return new LossWatch({
      id: 'me',
      log: {
        beatWorker: async () => {
          this.beats += 1;
        },
        silentWorkers: () => Promise.resolve(this.silent),
      },
      check: async () => {
        this.checks += 1;
      },
      ...(beatMs === undefined ? {} : { beatMs }),
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
        silentWorkers: () => Promise.resolve(presence.silent),
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
