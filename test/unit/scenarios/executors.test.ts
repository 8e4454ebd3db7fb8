/** One table drives dispatch, resolution and rendering: a row that the tests add reaches all three. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotOf } from '../../../src/core/view/snapshot.js';
import {
  EXECUTOR_TABLE,
  type Executor,
  type ExecutorRow,
} from '../../../src/protocol/calls/executors.js';
import { toolFinished } from '../../support/builders/call-ends.js';
import {
  APPROVE,
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import { promise } from '../../support/promise.js';
import { aMachineWith } from '../../support/schedules/core-driver.js';
import { expectInvariants } from '../../support/schedules/core-invariants.js';

const table = EXECUTOR_TABLE as Record<string, ExecutorRow>;
const ROBOT = 'robot' as Executor;
const BATCH = 'batch' as Executor;

describe('an executor that is a row of the table', promise('A24'), () => {
  beforeAll(() => {
    table[ROBOT] = { mayBeGated: true, result: 'outside', wait: 'external_execution' };
    table[BATCH] = { mayBeGated: true, result: 'activity' };
  });
  afterAll(() => {
    Reflect.deleteProperty(table, ROBOT);
    Reflect.deleteProperty(table, BATCH);
  });

  it('and waits outside is offered, resolved and shown by its wait', () => {
    const m = aMachineWith(modelCalls([gatedCall('c', { executor: ROBOT })]));
    expect(m.pending).toMatchObject([{ executor: ROBOT, kind: 'approval' }]);
    m.resolve('c', APPROVE);
    expect(m.pending).toMatchObject([{ executor: ROBOT, kind: 'external_execution' }]);
    expect(m.resolve('c', answer('x'))).toMatchObject({ verdict: 'stale' });
    expect(m.resolve('c', result('moved'))).toMatchObject({ verdict: 'accepted' });
    expect(m.last('tool_result').result).toMatchObject({
      envelope: { ok: true, result: 'moved' },
      provenance: 'untrusted',
    });
    expectInvariants(m);
  });

  it('and is run by a worker is dispatched there, shown in flight, and resolved by no one', () => {
    const m = aMachineWith(modelCalls([plannedCall('c', { executor: BATCH })]));
    expect(m.effectTypes()).toEqual(['run_tool']);
    expect(snapshotOf(m.state).inFlightTools).toMatchObject([{ executor: BATCH, toolCallId: 'c' }]);
    expect(m.resolve('c', result(1))).toMatchObject({ verdict: 'stale' });
    toolFinished(m.machine, 'c', { envelope: { ok: true, result: 7 }, executionMs: 1 });
    expect(m.last('tool_result').result.envelope).toEqual({ ok: true, result: 7 });
    expectInvariants(m);
  });
});

it('an executor that is no row fails the turn with the reason, and no task', () => {
  const m = aMachineWith(modelCalls([plannedCall('c', { executor: 'later' as Executor })]));
  expect(m.last('turn_ended')).toMatchObject({
    status: 'failed',
    error: { code: 'internal', message: expect.stringContaining('executor') as string },
  });
});
