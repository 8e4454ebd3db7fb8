/**
 * The number of workflow tasks that a worker takes at once: the usual number for runs in memory, few that bring whole
 * histories.
 */
import { describe, expect, it } from 'vitest';
import {
  CACHED_RUNS,
  MAX_REPLAYS_AT_ONCE,
  REPLAYS_AT_START,
} from '../../../../src/protocol/limits/service-limits.js';
import { ReplaySlots } from '../../../../src/worker/load/replay-slots.js';
import { withSlots } from '../../../../src/worker/load/slots.js';
import { promise } from '../../../support/promise.js';

type Context = Parameters<ReplaySlots['reserveSlot']>[0];
type Permit = Awaited<ReturnType<ReplaySlots['reserveSlot']>>;

const HELD = { isSticky: true } as Context;
const WHOLE = { isSticky: false } as Context;
const NEVER = new AbortController().signal;

/** A worker that has as many polls open as allowed, and as many tasks as it has polls. */
class Scene {
  nowMs = 0;
  readonly slots = new ReplaySlots({ slots: 40, now: () => this.nowMs });

  /**
   * Takes as many tasks as allowed, and finishes each after so long, one batch after the other; returns the sizes of
   * the batches.
   */
  replays(tookMs: readonly number[]): readonly number[] {
    return tookMs.map((took) => {
      const taken = this.takeAll(WHOLE);
      for (const permit of taken)
        this.slots.markSlotUsed({ permit, slotInfo: { isSticky: false } } as never);
      this.nowMs += took;
      for (const permit of taken) this.slots.releaseSlot({ permit });
      return taken.length;
    });
  }

  takeAll(context: Context): readonly Permit[] {
    const taken: Permit[] = [];
    for (;;) {
      const permit = this.slots.tryReserveSlot(context);
      if (permit === null) return taken;
      taken.push(permit);
    }
  }
}

describe('tasks that bring whole histories', () => {
  it.each<[what: string, took: readonly number[], batches: readonly number[]]>([
    ['are few at first, and a few more where they are quick', [10, 10, 10, 10], [2, 3, 4, 5]],
    ['are never more than five', Array(20).fill(10), [2, 3, 4, ...Array<number>(17).fill(5)]],
    ['stay as many while they are neither quick nor slow', [2_000, 2_000, 1_000], [2, 2, 2]],
    [
      'are half as many where they are slow, down to one',
      [10, 10, 3_000, 3_000, 3_000, 3_000],
      [2, 3, 4, 2, 1, 1],
    ],
    ['come back to more once they are quick again', [3_000, 4_000, 10, 10, 10], [2, 1, 1, 2, 3]],
  ])('%s', promise('G30'), (_what, took, batches) => {
    expect(new Scene().replays(took)).toEqual(batches);
  });

  it('wait for one of them to end, and those that are cancelled leave the line', {
    ...promise('G30'),
  }, async () => {
    const { slots } = new Scene();
    const taken = await Promise.all(
      Array.from({ length: REPLAYS_AT_START }, () => slots.reserveSlot(WHOLE, NEVER)),
    );
    const calledOff = new AbortController();
    const first = slots.reserveSlot(WHOLE, calledOff.signal);
    const second = slots.reserveSlot(WHOLE, NEVER);
    calledOff.abort();
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    // Its poll brought no task.
    slots.releaseSlot({ permit: taken[0] as Permit });
    expect(await second).toEqual({ kind: 'replay' });
    expect(slots.replays).toBe(REPLAYS_AT_START);
    await expect(slots.reserveSlot(WHOLE, AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it(
    'keep no task of a run in memory waiting, and are not delayed by such tasks',
    promise('G30'),
    () => {
      const scene = new Scene();
      expect(scene.takeAll(WHOLE)).toHaveLength(REPLAYS_AT_START);
      expect(scene.takeAll(HELD)).toHaveLength(40);
      expect(new Scene().takeAll(HELD)).toHaveLength(40);
    },
  );
});

describe('the slots of a worker', () => {
  const kinds = ['workflow', 'activity', 'localActivity', 'nexus'] as const;
  const numbersOf = (tuning: Parameters<typeof withSlots>[0]) => {
    const { tuner, ...rest } = withSlots(tuning);
    const holder = tuner as unknown as Record<string, { numSlots?: number }>;
    const [, ...others] = kinds.map((kind) => holder[`${kind}TaskSlotSupplier`]?.numSlots);
    return { others, rest };
  };

  it('are as many as Temporal’s worker has, or as the tuning says', () => {
    expect(numbersOf(undefined)).toEqual({
      others: [100, 100, 100],
      rest: {
        maxConcurrentWorkflowTaskPolls: 10,
        maxConcurrentActivityTaskPolls: 10,
        maxCachedWorkflows: CACHED_RUNS,
      },
    });
    const few = {
      maxConcurrentWorkflowTaskExecutions: 3,
      maxConcurrentActivityTaskExecutions: 1,
      maxCachedWorkflows: 2,
    };
    expect(numbersOf(few)).toEqual({
      others: [1, 100, 100],
      rest: {
        maxConcurrentWorkflowTaskPolls: 3,
        maxConcurrentActivityTaskPolls: 1,
        maxCachedWorkflows: 2,
      },
    });
    const { tuner } = withSlots({ maxConcurrentWorkflowTaskExecutions: 3 });
    const supplier = (tuner as unknown as { workflowTaskSlotSupplier: ReplaySlots })
      .workflowTaskSlotSupplier;
    expect(
      Array.from({ length: 9 }, () => supplier.tryReserveSlot(HELD)).filter(Boolean),
    ).toHaveLength(3);
    expect(supplier.replays).toBeLessThanOrEqual(MAX_REPLAYS_AT_ONCE);
  });

  it('are those of a tuner where the tuning brings one', () => {
    const tuning = { tuner: { tunerOptions: { targetCpuUsage: 0.8, targetMemoryUsage: 0.8 } } };
    expect(withSlots(tuning)).toEqual({ ...tuning, maxCachedWorkflows: CACHED_RUNS });
  });
});
