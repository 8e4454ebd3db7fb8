/** Recorded ends of activities that still run when a run has been reset. */
import { ActivityFailure, CancelledFailure, RetryState } from '@temporalio/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TRANSCRIPT_MISS } from '../../../src/protocol/workflow/transcript-delta.js';
import { Driver } from '../../../src/workflows/driver/driver.js';
import {
  actor,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../support/builders/core-builders.js';
import { cancelTurn } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../support/schedules/core-driver.js';

/** An activity that the driver has started. */
interface Begun {
  readonly activityId: string;
  readonly end: {
    readonly resolve: (result: unknown) => void;
    readonly reject: (error: unknown) => void;
  };
}

const server = vi.hoisted(() => ({ begun: [] as unknown[], cancelled: 0 }));

vi.mock(import('../../../src/workflows/activities/schedule.js'), async (original) => {
  const executeWithOptions = ({ activityId }: { activityId?: string }) =>
    new Promise((resolve, reject) => {
      server.begun.push({ activityId, end: { resolve, reject } });
    });
  const activities = { callModel: { executeWithOptions }, runTool: { executeWithOptions } };
  return { ...(await original()), activities: activities as never };
});

vi.mock(import('@temporalio/workflow'), async (original) => {
  class CancellationScope {
    consideredCancelled = false;
    run = (work: () => unknown): unknown => work();
    cancel = (): void => {
      this.consideredCancelled = true;
      server.cancelled += 1;
    };
  }
  const workflowInfo = () => ({ unsafe: { isReplaying: false } });
  return {
    ...(await original()),
    CancellationScope: CancellationScope as never,
    workflowInfo: workflowInfo as never,
  };
});

beforeEach(() => {
  server.begun.length = 0;
  server.cancelled = 0;
});

const begun = (): readonly Begun[] => server.begun as readonly Begun[];
const idsOf = (): readonly string[] => begun().map(({ activityId }) => activityId);
const STEP_2 = `model:${turn(1)}:2`;

function aDriver(m: MachineUnderTest) {
  let woken = (): void => undefined;
  const wake = (): void => {
    woken();
  };
  const driver = new Driver({ machine: m.machine, modelName: 'm', wake, acted: () => undefined });
  const sync = (): void => {
    driver.sync(() => true);
  };
  /** Ends the newest activity, and starts the work that follows. */
  const ends = async (settle: (end: Begun['end']) => void, activity = begun().at(-1)) => {
    await new Promise<void>((resolve) => {
      woken = resolve;
      settle(activity!.end);
    });
    sync();
  };
  return { driver, sync, ends };
}

/** A run whose second model call is under way: the first has asked for a tool, which has ended. */
async function inStepTwo() {
  const m = aMachine();
  m.send('go');
  const run = aDriver(m);
  run.sync();
  await run.ends(({ resolve }) => {
    resolve(modelCalls([plannedCall('c')]));
  });
  await run.ends(({ resolve }) => {
    resolve({ envelope: { ok: true, result: 1 }, executionMs: 1 });
  });
  expect(idsOf().at(-1)).toBe(STEP_2);
  m.mark();
  return { m, ...run, leftOver: begun().at(-1)! };
}

const CANCELLED = new ActivityFailure(
  'cancelled',
  'callModel',
  STEP_2,
  RetryState.NON_RETRYABLE_FAILURE,
  undefined,
  new CancelledFailure('cancelled'),
);

/** A run whose tool is under way. */
async function inTool(effects: 'once' | 'idempotent') {
  const m = aMachine();
  m.send('go');
  const run = aDriver(m);
  run.sync();
  await run.ends(({ resolve }) => {
    resolve(modelCalls([plannedCall('c', { effects })]));
  });
  m.mark();
  return { m, ...run, tool: begun().at(-1)! };
}

describe('a tool whose activity is cancelled', () => {
  it.each([
    ['once', 'outcome_unknown'],
    ['idempotent', 'tool_crashed'],
  ] as const)(
    'by the server or its worker, without a request of the run, is not run again under the same id: %s',
    promise('G8'),
    async (effects, code) => {
      const { m, ends, tool } = await inTool(effects);
      await ends(({ reject }) => {
        reject(CANCELLED);
      }, tool);
      expect(m.last('tool_result').result.envelope).toMatchObject({ error: { code } });
      expect(idsOf().filter((id) => id === tool.activityId)).toHaveLength(1);
    },
  );

  it('because the turn was cancelled adds nothing to its result', async () => {
    const { m, sync, ends, tool } = await inTool('once');
    cancelTurn(m.machine, { turnId: turn(1), actor: actor('ann') });
    sync();
    expect(server.cancelled).toBe(1);
    m.mark();
    await ends(({ reject }) => {
      reject(CANCELLED);
    }, tool);
    expect(m.types()).toEqual([]);
    expect(begun()).toHaveLength(2);
  });
});

describe('a model call that still runs when its recorded end is taken', () => {
  it('changes nothing by its own end: one that lacked messages is made again after it', async () => {
    const { m, driver, sync, ends, leftOver } = await inStepTwo();
    const calls = begun().length;
    driver.ended(STEP_2, { as: 'failed', type: TRANSCRIPT_MISS, message: 'missing' });
    expect(server.cancelled).toBe(1);
    sync();
    expect(begun()).toHaveLength(calls);
    expect(driver.busy).toBe(true);
    await ends(({ reject }) => {
      reject(CANCELLED);
    }, leftOver);
    expect(m.types()).toEqual([]);
    expect(idsOf().slice(calls)).toEqual([STEP_2]);
    sync();
    expect(begun()).toHaveLength(calls + 1);
    await ends(({ resolve }) => {
      resolve(modelSays('done'));
    });
    expect(m.types()).toEqual(['model_call', 'assistant_message', 'turn_ended']);
    expect(m.last('turn_ended').status).toBe('completed');
  });

  it('leaves the run free once the recorded answer has ended the turn', async () => {
    const { m, driver, sync, ends, leftOver } = await inStepTwo();
    driver.ended(STEP_2, { as: 'completed', result: modelSays('done') as never });
    sync();
    expect(driver.busy).toBe(false);
    expect(m.types().at(-1)).toBe('turn_ended');
    await ends(({ reject }) => {
      reject(CANCELLED);
    }, leftOver);
    expect(m.types()).toEqual([]);
  });
});
