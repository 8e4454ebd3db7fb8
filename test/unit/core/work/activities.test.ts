/** The name, id and input of the activity of each effect: histories have them, so they never change. */
import { describe, expect, it } from 'vitest';
import type { ExternalEffect } from '../../../../src/core/decide/effects.js';
import { isTimer } from '../../../../src/core/decide/effects.js';
import { activityIdOf, effectKey, WORK } from '../../../../src/core/work/effects.js';
import type { WorkRow, WorkType } from '../../../../src/core/work/row.js';
import { MAX_READ_BOUNDS_BYTES } from '../../../../src/protocol/limits/limits.js';
import { CORE_REVISION } from '../../../../src/protocol/workflow/revisions.js';
import { toolFinished, toolLost, toolReconciled } from '../../../support/builders/call-ends.js';
import {
  APPROVE,
  actor,
  EPOCH_MS,
  gatedCall,
  modelCalls,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

const AT = { tenant: 'default', conversationId: 'order-42', agent: 'support' };
const OF_STEP = { ...AT, turnId: turn(1), step: 1, requester: actor('ann') };
const TRANSCRIPT = { next: () => 'next' as never, front: () => 'front' as never };

/** The work that the conversation wants, as its driver schedules it. */
function scheduled(m: MachineUnderTest, type: WorkType) {
  const effect = m.effects().find((one) => one.type === type);
  if (effect === undefined) throw new Error(`${type} is not wanted: ${m.effectTypes().join()}`);
  return workOf(m, effect);
}

function workOf(m: MachineUnderTest, effect: ExternalEffect) {
  const row = WORK[effect.type as WorkType] as unknown as WorkRow<'run_tool'>;
  const at = { state: m.state, nowMs: m.clock.now(), transcript: TRANSCRIPT };
  return {
    key: effectKey(effect),
    id: activityIdOf(m.state, effect),
    activity: row.activity,
    input: row.input(at, effect as never),
  };
}

const calling = (call: ReturnType<typeof plannedCall>) => aMachineWith(modelCalls([call]));

describe('a model call', () => {
  it('has its place as id, and what the conversation gives it as input', () => {
    const m = aMachine();
    m.send('hello', { output: { type: 'object' } });
    expect(scheduled(m, 'call_model')).toEqual({
      key: `model:${turn(1)}:1`,
      id: `model:${turn(1)}:1`,
      activity: 'callModel',
      input: {
        ...OF_STEP,
        transcript: 'next',
        output: { type: 'object' },
        reads: { coreRevision: CORE_REVISION },
      },
    });
  });

  it('has the bounds of reads as far as they are set, and none where reads could not run', () => {
    const reads = (settings: object, spent = true) => {
      const m = spent
        ? aMachineWith(modelCalls([plannedCall('a')]), { settings }).tool('a')
        : aMachine({ settings });
      if (!spent) m.send('hello');
      return (scheduled(m, 'call_model').input as { reads?: unknown } | undefined)?.reads;
    };
    const spent = { byTool: { 'server.tool': 1 }, byCall: {} };
    expect(reads({ budgets: { calls: 9, callsOf: { 'server.tool': 3 }, tokens: 5_000 } })).toEqual({
      ...{ coreRevision: CORE_REVISION, calls: 9, callsOf: { 'server.tool': 3 }, spent },
    });
    const repeated = reads({
      repeatLimit: 3,
      onToolError: 'abort_turn',
      onUnknownTool: 'abort_turn',
    });
    expect(repeated).toMatchObject({
      ...{ repeatLimit: 3, onToolError: 'abort_turn', onUnknownTool: 'abort_turn' },
      spent: { byTool: { 'server.tool': 1 } },
    });
    expect(Object.keys((repeated as { spent: { byCall: object } }).spent.byCall)).toHaveLength(1);
    expect(reads({ toolExecution: 'sequential' }, false)).toBeUndefined();
    const bounds = { coreRevision: 1, callsOf: { x: 1 } };
    const name = (bytes: number) => 'x'.repeat(bytes - JSON.stringify(bounds).length + 1);
    const callsOf = (bytes: number) => reads({ budgets: { callsOf: { [name(bytes)]: 1 } } }, false);
    expect(callsOf(MAX_READ_BOUNDS_BYTES)).toBeDefined();
    expect(callsOf(MAX_READ_BOUNDS_BYTES + 1)).toBeUndefined();
  });
});

describe('the work on a call', () => {
  const CALL = { toolCallId: 'c', name: 'server.tool' };

  it('that is planned in its turn has the arguments as the model wrote them', () => {
    const m = aMachineWith(
      modelCalls([plannedCall('c', { unplanned: { argumentsJson: '{"a":1}' } })]),
      { settings: { toolExecution: 'sequential' } },
    );
    expect(scheduled(m, 'plan_call')).toEqual({
      ...{ key: 'plan:c', id: undefined, activity: 'planCall' },
      input: { ...OF_STEP, call: { ...CALL, argumentsJson: '{"a":1}' } },
    });
  });

  it('that runs has the run in its id from the second on, and the end of all runs', () => {
    const call = plannedCall('c', {
      timeouts: { approvalMs: 1, answerMs: 1, runMs: 30_000, totalMs: 60_000 },
    });
    const m = calling(call);
    expect(scheduled(m, 'run_tool')).toMatchObject({
      ...{ key: 'tool:c:1', id: 'tool:server.tool:c', activity: 'runTool' },
      input: { ...AT, turnId: turn(1), endsAt: new Date(EPOCH_MS + 60_000).toISOString() },
    });
    expect(scheduled(calling(plannedCall('c')), 'run_tool').input).not.toHaveProperty('endsAt');
  });

  it('that may have run is reconciled by run, and the next run has its number', () => {
    const m = calling(plannedCall('c', { effects: 'once', reconcile: true }));
    toolLost(m.machine, 'c', { timedOut: false, message: 'gone' });
    expect(scheduled(m, 'reconcile_tool')).toMatchObject({
      ...{ key: 'reconcile:c:1', id: 'reconcile:server.tool:c:1', activity: 'reconcileTool' },
      input: { ...AT, turnId: turn(1) },
    });
    toolReconciled(m.machine, 'c', { outcome: 'not_happened' });
    expect(scheduled(m, 'run_tool')).toMatchObject({ key: 'tool:c:2', id: 'tool:server.tool:c:2' });
  });

  it('that is prepared, and whose answer or edit is checked', () => {
    const prepared = calling(plannedCall('c', { executor: 'client', preflight: true }));
    expect(scheduled(prepared, 'preflight_tool')).toMatchObject({
      ...{ key: 'preflight:c', id: 'preflight:client.tool:c', activity: 'preflightTool' },
    });
    const asked = calling(
      plannedCall('c', { executor: 'human', recheckAnswer: true, answerDefinition: 'sha256:d' }),
    );
    asked.resolve('c', { type: 'answer', value: 7 }, { requestId: 'r' });
    expect(scheduled(asked, 'check_answer')).toEqual({
      ...{ key: 'check:c:r', id: undefined, activity: 'checkAnswer' },
      input: { ...AT, toolCallId: 'c', name: 'human.tool', value: 7, answerDefinition: 'sha256:d' },
    });
    for (const mcp of [undefined, { server: 's', tool: 't' }]) {
      const edited = calling(gatedCall('c', mcp === undefined ? {} : ({ mcp } as object)));
      edited.resolve('c', { type: 'approve', input: { n: 2 } }, { requestId: 'r' });
      expect(scheduled(edited, 'check_edit')).toEqual({
        ...{ key: 'edit:c:r', id: undefined, activity: 'checkEdit' },
        input: { ...OF_STEP, ...CALL, input: { n: 2 }, ...(mcp === undefined ? {} : { mcp }) },
      });
    }
  });

  it('whose definition is compared has what was pinned, and what a run has found', () => {
    const pinned = { definition: 'sha256:old', raw: { n: 1 } };
    const client = calling(gatedCall('c', { executor: 'client', input: { n: 1 }, ...pinned }));
    client.resolve('c', APPROVE, { requestId: 'r' });
    expect(scheduled(client, 'check_definition')).toEqual({
      ...{ key: 'definition:c', id: undefined, activity: 'checkDefinition' },
      input: {
        ...OF_STEP,
        call: {
          toolCallId: 'c',
          name: 'client.tool',
          executor: 'client',
          input: { n: 1 },
          ...pinned,
        },
      },
    });
    const mcp = { server: 's', tool: 't' };
    const server = calling(plannedCall('c', { input: { n: 1 }, ...pinned, mcp } as object));
    toolFinished(server.machine, 'c', { changed: { definition: 'sha256:new' } });
    expect(scheduled(server, 'check_definition').input).toEqual({
      ...OF_STEP,
      call: { ...CALL, executor: 'server', input: { n: 1 }, ...pinned, mcp },
      found: 'sha256:new',
    });
  });

  it('that no worker can check is refused, and the call waits again', () => {
    const m = calling(gatedCall('c'));
    m.resolve('c', { type: 'approve', input: { n: 2 } }, { requestId: 'r' });
    m.machine.lost(
      { type: 'check_edit', toolCallId: 'c', requestId: 'r' },
      { timedOut: true, message: 'no worker' },
    );
    expect(m.pending).toHaveLength(1);
    expect(m.last('resolution_reverted')).toMatchObject({
      problems: [{ path: '/resolution/input', message: 'could not be checked: no worker' }],
    });
  });

  it('of a call that is gone is nothing', () => {
    const m = calling(plannedCall('c'));
    for (const type of ['run_tool', 'plan_call', 'check_edit', 'check_answer'] as const) {
      const effect = { type, toolCallId: 'x', run: 1, requestId: 'r' } as never;
      expect(workOf(m, effect)).toMatchObject({ id: undefined, input: undefined });
      m.machine.lost(effect, { timedOut: false, message: 'gone' });
      m.machine.completed(effect, { ok: true } as never);
    }
    for (const type of ['plan_call', 'check_edit', 'check_answer'] as const)
      expect(workOf(m, { type, toolCallId: 'c', requestId: 'r' }).input).toBeUndefined();
    expect(m.types()).toEqual([]);
  });
});

describe('a timer', () => {
  it('has its end in its key, so that another end is another timer', () => {
    const waits = { kind: 'approval', name: 'x', deadline: 'D' } as const;
    expect(effectKey({ type: 'await_deadline', toolCallId: 'c', ...waits })).toBe(
      'deadline:c:approval:D',
    );
    expect(effectKey({ type: 'await_claim', toolCallId: 'c', ...waits })).toBe(
      'claim:c:approval:D',
    );
    expect(effectKey({ type: 'await_warning', toolCallId: 'c', ends: 'E', ...waits })).toBe(
      'warning:c:approval:E',
    );
    expect(effectKey({ type: 'await_inbox_turn', deadline: 'D' })).toBe('inbox:D');
    expect(effectKey({ type: 'await_turn_limit', turnId: 't', deadline: 'D' })).toBe('limit:t:D');
    expect(effectKey({ type: 'abort_model', turnId: 't', step: 2 })).toBe('abort:t:2');
    expect(effectKey({ type: 'offload_transcript', turnId: 't', step: 2 } as never)).toBe(
      'offload:t:2',
    );
  });

  it('that fires for another end, another turn or another claim changes nothing', () => {
    const m = aMachineWith(
      modelCalls([
        plannedCall('c', {
          executor: 'client',
          timeouts: { approvalMs: 1_000, answerMs: 60_000, runMs: 1_000, claimMs: 5_000 },
          warnBeforeMs: 10_000,
        }),
      ]),
      { settings: { budgets: { timeMs: 120_000 } } },
    );
    const wait = { kind: 'client_execution', name: 'client.tool' } as const;
    const other = new Date(EPOCH_MS).toISOString();
    for (const toolCallId of ['c', 'x']) {
      m.machine.fired({ type: 'await_claim', toolCallId, ...wait, deadline: other });
      m.machine.fired({ type: 'await_deadline', toolCallId, ...wait, deadline: other });
      m.machine.fired({ type: 'await_warning', toolCallId, ...wait, ends: other, deadline: other });
    }
    m.machine.fired({ type: 'await_turn_limit', turnId: turn(9), deadline: other });
    m.machine.fired({ type: 'await_inbox_turn', deadline: other });
    expect(m.types()).toEqual([]);
    expect(m.effects().filter(isTimer)).not.toEqual([]);
  });
});
