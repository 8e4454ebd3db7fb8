/**
 * Results of activities that do not have their form: a worker of another version or in another language may return
 * anything, and history keeps it, so none of it may fail the workflow task.
 */
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it, vi } from 'vitest';
import { toCarryOver } from '../../../../src/core/context/carry-over.js';
import type { EffectOf, ExternalEffect } from '../../../../src/core/decide/effects.js';
import { snapshotOf } from '../../../../src/core/view/snapshot.js';
import { restoredProblem } from '../../../../src/core/work/forms.js';
import type { WorkResult, WorkType } from '../../../../src/core/work/row.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import type { EventType } from '../../../../src/protocol/log/events.js';
import { isRecord } from '../../../../src/protocol/values/json.js';
import type { CarriedState } from '../../../../src/protocol/workflow/messaging.js';
import { optionsOf } from '../../../../src/workflows/activities/schedule.js';
import { usableState } from '../../../../src/workflows/handlers/reopening.js';
import {
  answer,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  providerCall,
} from '../../../support/builders/core-builders.js';
import { fullContext, summaryOfAll } from '../../../support/builders/core-summaries.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

vi.mock(import('@temporalio/workflow'), async (original) => {
  const { log, ...rest } = await original();
  return { ...rest, log: { ...log, warn: () => undefined } };
});

/** A conversation that waits for the end of one activity, an end as the engine's workers return it, and a failed one. */
interface Waiting {
  readonly build: () => MachineUnderTest;
  readonly results: readonly unknown[];
  readonly failed: readonly EventType[];
}

const plan = (over: Partial<PlannedCall> = {}): PlannedCall => plannedCall('c', over);
const childPlan = plan({ executor: 'external', subAgent: { agent: 'other' } });
const full = plan({
  timeouts: { approvalMs: 1, answerMs: 1, runMs: 1, claimMs: 1, totalMs: 9_000, heartbeatMs: 1 },
  approval: { needed: true, reason: 'r', audience: { users: ['u'], also: [{ roles: ['x'] }] } },
  taskQueue: 'other',
  answerSchema: { type: 'object', properties: { a: { type: 'string' } } },
});
const error = { code: 'tool_error', message: 'no' };
const envelope = { ok: true, result: { found: [1] }, files: [{ type: 'file' }] };
const ended = (of: object): object => ({ envelope: of, executionMs: 1 });
const usage = { inputTokens: 1, outputTokens: 1, costMicros: 3 };
const read = { toolCallId: 'c', ended: ended(envelope) };
const inline = plan({ effects: 'none', inline: true });
const answering = {
  ...{ ...modelSays('done'), usage, earlierUsage: usage, failedAttempts: [] },
  ...{ context: fullContext(), output: { a: 1 } },
};

const approve = { type: 'approve', input: { other: 1 } } as const;
const after = (call: PlannedCall, then: (m: MachineUnderTest) => unknown): MachineUnderTest => {
  const m = aMachineWith(modelCalls([call]));
  then(m);
  m.mark();
  return m;
};
const migrated = {
  ...{ outcome: 'migrated', definition: 'sha256:new' },
  call: { input: 1, argsDigest: 'sha256:x', definition: 'sha256:new', approval: full.approval },
};

const WAITING: { readonly [Type in WorkType]: Waiting } = {
  call_model: {
    build: () => {
      const m = aMachine({
        settings: { budgets: { tokens: 1e9, cost: { micros: 9, currency: 'EUR' } } },
      });
      m.send('go');
      m.mark();
      return m;
    },
    results: [
      answering,
      modelCalls([full, plannedCall('d')]),
      { ...modelCalls([]), calls: [{ plan: inline, argumentsJson: '{}', read }] },
      { ...modelSays('x'), providerCalls: [providerCall('p')] },
    ],
    failed: ['turn_ended'],
  },
  summarize: {
    build: () => {
      const m = aMachine({ settings: { summaries: true } });
      for (const text of ['one', 'two', 'three']) {
        m.send(text);
        m.model({ ...modelSays('so'), context: fullContext() });
      }
      m.mark();
      return m;
    },
    results: [],
    failed: [],
  },
  plan_call: {
    build: () =>
      aMachineWith(modelCalls([{ ...plan(), unplanned: { argumentsJson: '{}' } }]), {
        settings: { toolExecution: 'sequential' },
      }),
    results: [full],
    failed: ['tool_result'],
  },
  preflight_tool: {
    build: () => after(plan({ executor: 'client', preflight: true }), () => undefined),
    results: [
      { ok: true, payload: { shaped: 1 }, argsDigest: 'sha256:x' },
      { ok: false, error },
      { ok: false, changed: { definition: 'sha256:new' } },
    ],
    failed: ['tool_result'],
  },
  run_tool: {
    build: () => after(plan({ definition: 'sha256:old' }), () => undefined),
    results: [
      ended(envelope),
      ended({ ok: false, error }),
      {
        ...ended(envelope),
        patches: [
          {
            ...{ plugin: 'notes', version: 1 },
            changes: [{ op: 'append', path: '', values: ['a'] }],
          },
        ],
      },
      { ask: { form: { type: 'string' }, state: { at: 1 } }, executionMs: 1 },
      { refused: [{ path: '', message: 'no' }], executionMs: 1 },
      { changed: { definition: 'sha256:new' } },
    ],
    failed: ['tool_result'],
  },
  reconcile_tool: {
    build: () =>
      after(plan({ effects: 'once', reconcile: true }), (m) => {
        m.machine.lost(
          { type: 'run_tool', toolCallId: 'c', run: 1 },
          { timedOut: false, message: 'lost' },
        );
      }),
    results: [
      { outcome: 'happened', envelope },
      { outcome: 'not_happened' },
      { outcome: 'unknown', reason: 'down' },
    ],
    failed: ['tool_reconciled', 'tool_result'],
  },
  check_answer: {
    build: () =>
      after(plan({ executor: 'human', recheckAnswer: true }), (m) => m.resolve('c', answer(7))),
    results: [
      { ok: true, value: 7 },
      { ok: false, problems: [{ path: '/a', message: 'no' }] },
      {
        ...{ ok: false, problems: [] },
        offer: {
          definition: 'sha256:new',
          answerSchema: { type: 'string' },
          onExpireDefault: { value: 1 },
        },
      },
      { ok: false, ended: error },
    ],
    failed: ['resolution_reverted', 'suspension'],
  },
  check_edit: {
    build: () => after(gatedCall('c'), (m) => m.resolve('c', approve)),
    results: [
      { ok: true, input: { other: 1 }, argsDigest: 'sha256:x', approval: full.approval },
      { ok: false, problems: [{ path: '/a', message: 'no' }] },
      { ok: false, ended: error },
    ],
    failed: ['resolution_reverted', 'suspension'],
  },
  start_child: {
    build: () => after(childPlan, () => undefined),
    results: [{ started: true }, { started: false, error }],
    failed: ['child_changed', 'tool_result'],
  },
  stop_child: {
    build: () =>
      after(childPlan, (m) => {
        ends(m, 'start_child', { started: true });
        m.machine.take('cancelTurn', {});
      }),
    results: [{ running: true }, { running: false }],
    failed: ['child_changed'],
  },
  check_definition: {
    build: () =>
      after(gatedCall('c', { executor: 'client', definition: 'sha256:old' }), (m) =>
        m.resolve('c', { type: 'approve' }),
      ),
    results: [migrated, { outcome: 'ended', definition: 'sha256:new', error }, { outcome: 'same' }],
    failed: ['tool_result'],
  },
};
const TYPES = Object.keys(WAITING) as readonly WorkType[];

function nested(levels: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}
const DEEP = nested(20_000);

function ends(m: MachineUnderTest, type: WorkType, result: unknown): void {
  const effect = m.effects().find((one) => one.type === type) as EffectOf<WorkType> | undefined;
  expect(effect?.type).toBe(type);
  m.machine.completed(effect as EffectOf<WorkType>, result as WorkResult<WorkType>);
}

/** All that the workflow does with the state after each input. */
function goesOn(m: MachineUnderTest): void {
  JSON.stringify([toCarryOver(m.state), snapshotOf(m.state), m.events]);
  for (const effect of m.effects()) if (effect.type in WAITING) takenByServer(m, effect);
}

/** The server and the SDK refuse an activity with other options, and so the task that schedules it. */
function takenByServer(m: MachineUnderTest, effect: ExternalEffect): void {
  const options = optionsOf(effect as EffectOf<WorkType>, { state: m.state, modelName: 'm' });
  const { startToCloseTimeout, heartbeatTimeout, retry, taskQueue, activityId } = options;
  for (const time of [startToCloseTimeout, heartbeatTimeout])
    if (typeof time === 'number') expect(time).toBeGreaterThanOrEqual(0);
  const { maximumAttempts = 1 } = retry ?? {};
  expect(Number.isInteger(maximumAttempts) && maximumAttempts >= 1).toBe(true);
  for (const name of [taskQueue, activityId])
    if (name !== undefined) expect(name.length > 0 && name.length <= 1_000).toBe(true);
}

/** Every copy of the value with one part of it replaced. */
function* variants(value: unknown, by: unknown): Generator {
  yield by;
  if (Array.isArray(value))
    for (const [index, item] of value.entries())
      for (const inner of variants(item, by)) yield value.with(index, inner);
  else if (isRecord(value))
    for (const [key, item] of Object.entries(value))
      for (const inner of variants(item, by)) yield { ...value, [key]: inner };
}

function resultsOf(type: WorkType): readonly unknown[] {
  const { build, results } = WAITING[type];
  return type === 'summarize' ? [summaryOfAll(build().state)] : results;
}

describe('the state of a closed conversation', () => {
  const carried = { ...toCarryOver(WAITING.run_tool.build().state), events: [] };

  it('is continued with in the form in which a run carries it', () => {
    const m = WAITING.summarize.build();
    for (const state of [carried, { ...toCarryOver(m.state), events: m.events }])
      expect(restoredProblem(JSON.parse(JSON.stringify(state)))).toBeUndefined();
  });

  it.each([
    [null, 'it must be an object'],
    [{ ...carried, state: DEEP }, 'it is nested deeper than 520 levels'],
    [{ ...carried, state: null }, '/state must be an object'],
    [{ ...carried, events: [null] }, '/events/0 must be an object'],
  ])('of another form is refused with the reason: case %#', (state, problem) => {
    expect(restoredProblem(state)).toBe(`the worker returned an invalid result: ${problem}`);
    const reopened = (): unknown => usableState(state as unknown as CarriedState);
    // A failure, unlike an error of another class, does not fail the task.
    expect(reopened).toThrow(ApplicationFailure);
  });
});

describe('an activity whose worker returns', promise('G300'), () => {
  it.each(
    TYPES.flatMap((type) => [null, 'ok', 7, [], {}, DEEP].map((end) => [type, end] as const)),
  )('a result of another form has failed: %s, case %#', (type, end) => {
    const { build, failed } = WAITING[type];
    const m = build();
    ends(m, type, end);
    expect(m.types().slice(0, failed.length)).toEqual(failed);
    goesOn(m);
  });

  it.each(TYPES)(
    'a result in which any one part is of another form never fails the task: %s',
    (type) => {
      for (const whole of resultsOf(type))
        for (const by of [
          undefined,
          null,
          'x',
          '',
          7,
          -1.5,
          1e300,
          [],
          {},
          [null],
          DEEP,
          '/_sys/q',
          'y'.repeat(2_000),
        ])
          for (const end of variants(whole, by)) {
            const m = WAITING[type].build();
            ends(m, type, end);
            goesOn(m);
          }
    },
  );

  it('an answer of the model of another form has failed its turn with the reason', () => {
    const m = WAITING.call_model.build();
    ends(m, 'call_model', { ...modelSays('x'), usage: null });
    expect(m.last('turn_ended').error).toEqual({
      code: 'internal',
      message: 'the worker returned an invalid result: /usage must be an object',
    });
  });

  it.each(TYPES)('each result of its form as before: %s', (type) => {
    for (const whole of resultsOf(type)) {
      const m = WAITING[type].build();
      ends(m, type, whole);
      expect(m.problems).toEqual([]);
    }
  });
});
