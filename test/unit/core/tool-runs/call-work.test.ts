/** The input of work on a call, and the effect of work that was lost. */
import { describe, expect, it } from 'vitest';
import type { Loss } from '../../../../src/core/calls/results.js';
import type { EffectOf } from '../../../../src/core/decide/effects.js';
import { WORK } from '../../../../src/core/work/effects.js';
import type { CallWorkType } from '../../../../src/core/work/row.js';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import { TranscriptWindow } from '../../../../src/workflows/transcript/transcript-window.js';
import { toolFinished } from '../../../support/builders/call-ends.js';
import {
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
  RUN_MS,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

function inputOf<Type extends CallWorkType>(m: MachineUnderTest, type: Type): unknown {
  const effect = { type, toolCallId: 'c', run: 1, requestId: '' } as EffectOf<CallWorkType> &
    EffectOf<Type>;
  const transcript = new TranscriptWindow(m.state);
  return WORK[type].input({ state: m.state, nowMs: m.clock.now(), transcript }, effect);
}

describe('the input of work on a call', () => {
  it.each(['run_tool', 'preflight_tool'] as const)(
    'has no more time than is left of the total time of the call: %s',
    (type) => {
      const executor = type === 'run_tool' ? 'server' : 'client';
      const timeouts = { approvalMs: 1, answerMs: 1, runMs: RUN_MS, totalMs: 10_000 };
      const call = plannedCall('c', { executor, preflight: true, timeouts });
      const m = aMachineWith(modelCalls([call]));
      const end = m.clock.iso(10_000);
      m.clock.advance(4_000);
      expect(inputOf(m, type)).toMatchObject({
        call: { timeouts: { runMs: 6_000 } },
        ...(type === 'run_tool' ? { endsAt: end } : {}),
      });
    },
  );

  it.each(['plan_call', 'check_edit', 'check_definition'] as const)(
    'has the states of plugins, which policies read: %s',
    promise('G337'),
    (type) => {
      const unplanned = { argumentsJson: '{}' };
      const call = gatedCall('c', {
        definition: 'sha256:old',
        ...(type === 'plan_call' ? { unplanned } : {}),
      });
      const patch = {
        ...{ plugin: 'p', version: 1 },
        changes: [{ op: 'set', path: '', value: {} }],
      } as const;
      const m = aMachineWith({ ...modelCalls([call]), patches: [patch] });
      if (type === 'check_edit') m.resolve('c', { type: 'approve', input: { other: true } });
      expect(inputOf(m, type)).toMatchObject({ states: { hash: m.state.plugins?.hash } });
      const none = aMachineWith(modelCalls([call]));
      if (type === 'check_edit') none.resolve('c', { type: 'approve', input: { other: true } });
      expect(inputOf(none, type)).not.toHaveProperty('states');
    },
  );

  it('names the definition that a worker has found already, for the check of the definition', () => {
    const m = aMachineWith(modelCalls([plannedCall('c', { definition: 'sha256:old' })]));
    expect(inputOf(m, 'check_definition')).not.toHaveProperty('found');
    toolFinished(m.machine, 'c', { changed: { definition: 'sha256:new' } });
    expect(inputOf(m, 'check_definition')).toMatchObject({ found: 'sha256:new' });
  });
});

describe('lost work on a call', () => {
  const lost = { timedOut: false, message: 'the worker was lost' };
  const gone: Loss = { ...lost, code: 'unknown_agent' };
  const edit: Resolution = { type: 'approve', input: { other: true } };
  const ask = plannedCall('c', { executor: 'human', recheckAnswer: true });
  const approve = gatedCall('c');

  it('ends a call with an error when its request could not be shaped', () => {
    const call = plannedCall('c', { executor: 'client', preflight: true });
    const m = aMachineWith(modelCalls([call]));
    m.machine.lost({ type: 'preflight_tool', toolCallId: 'c' }, lost);
    expect(m.last('tool_result').result.envelope).toMatchObject({
      ok: false,
      error: { code: 'tool_crashed' },
    });
  });

  it.each([
    ['check_answer', ask, answer(7), '/resolution/value'],
    ['check_edit', approve, edit, '/resolution/input'],
  ] as const)(
    'reverts what could not be checked, and ends the call where no worker serves the agent: %s',
    (type, call, resolution, path) => {
      for (const loss of [lost, gone]) {
        const m = aMachineWith(modelCalls([call]));
        m.resolve('c', resolution, { requestId: 'r' });
        m.mark();
        m.machine.lost({ type, toolCallId: 'c', requestId: 'r' }, loss);
        if (loss === lost) {
          expect(m.types()).toEqual(['resolution_reverted', 'suspension']);
          expect(m.last('resolution_reverted').problems).toEqual([
            { path, message: 'could not be checked: the worker was lost' },
          ]);
        } else
          expect(m.last('tool_result').result.envelope).toMatchObject({
            ok: false,
            error: { code: 'not_available' },
          });
      }
    },
  );
});
