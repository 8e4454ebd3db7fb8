/** The total size of pending calls is bounded, because every roll-over carries them. */
import { describe, expect, it } from 'vitest';
import { carriedBytes } from '../../../../src/core/context/carry-over.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import { MAX_WAITING_BYTES } from '../../../../src/protocol/limits/limits.js';
import { utf8Bytes } from '../../../../src/protocol/values/json.js';
import {
  APPROVE,
  answer,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { asks } from '../../../support/schedules/core-asks.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

const KB = 1_024;
const named = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `c${index}`);
const TITLE = 'x'.repeat(7 * KB);
/** As large as a question may be, or nearly. */
const LARGE = { form: { type: 'number', title: TITLE }, state: { text: TITLE } };
const bulky = (bytes: number) => ({ input: { text: 'x'.repeat(bytes) } });

function gated(count: number, bytes: number): readonly PlannedCall[] {
  return named(count).map((id) => gatedCall(id, bulky(bytes)));
}

/** The size of pending and detached calls, as a roll-over carries them. */
function held({ state }: MachineUnderTest): number {
  const waiting = Object.values(state.calls).filter(
    ({ suspension, background }) => suspension !== undefined || background === 'detached',
  );
  return waiting.reduce((sum, call) => sum + utf8Bytes(JSON.stringify(call)), 0);
}

function refused({ events }: MachineUnderTest): readonly unknown[] {
  return events.flatMap((event) =>
    event.type === 'tool_result' && !event.result.envelope.ok
      ? [event.result.envelope.error.code]
      : [],
  );
}

describe('pending calls', () => {
  it('have a total bound; those beyond it are errors that the model reads, and the others wait', {
    ...promise('G185'),
  }, () => {
    const m = aMachineWith(modelCalls([...gated(20, 20 * KB)]));
    expect(m.pending.length).toBeGreaterThan(3);
    expect(m.pending.length + refused(m).length).toBe(20);
    expect(new Set(refused(m))).toEqual(new Set(['too_many_calls']));
    expect(held(m)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
    expect(held(m)).toBeGreaterThan(0.7 * MAX_WAITING_BYTES);
    expectInvariants(m);
    expectViewsAgree(m.events);
    // Where one has ended, there is capacity again.
    const waiting = m.pending.map(({ toolCallId }) => toolCallId);
    for (const id of waiting) expect(m.resolve(id, APPROVE).verdict).toBe('accepted');
    for (const id of waiting) m.tool(id);
    m.model(modelCalls([gatedCall('later', bulky(20 * KB))]));
    expect(m.pending.map(({ toolCallId }) => toolCallId)).toEqual(['later']);
  });

  it('may be larger where one is alone: its bound is that of its arguments', () => {
    const m = aMachineWith(modelCalls([...gated(2, 190 * KB)]));
    expect(m.pending).toHaveLength(1);
    expect(held(m)).toBeGreaterThan(MAX_WAITING_BYTES);
    expect(refused(m)).toEqual(['too_many_calls']);
  });

  it('include detached ones, which no turn waits for', () => {
    const detached = named(20).map((id) =>
      plannedCall(id, { executor: 'external', mode: 'detach', ...bulky(20 * KB) }),
    );
    const m = aMachineWith(modelCalls(detached));
    expect(m.pending.length).toBeGreaterThan(3);
    expect(m.pending.length + refused(m).length).toBe(20);
    expect(held(m)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
  });

  it('are not refused when they wait for the second time: an approved call always runs', () => {
    const calls = named(9).map((id) => gatedCall(id, { executor: 'external', ...bulky(10 * KB) }));
    const m = aMachineWith(modelCalls(calls));
    expect(m.pending).toHaveLength(9);
    for (const id of named(9)) expect(m.resolve(id, APPROVE).verdict).toBe('accepted');
    expect(m.pending.map(({ kind }) => kind)).toEqual(Array(9).fill('external_execution'));
    for (const id of named(9)) expect(m.resolve(id, result('done')).verdict).toBe('accepted');
    expect(refused(m)).toEqual([]);
  });

  it('count anew a question that code asks behind an approval: without capacity it is an error', {
    ...promise('G185'),
  }, () => {
    const m = aMachineWith(modelCalls(named(64).map((id) => gatedCall(id))));
    expect(m.pending).toHaveLength(64);
    for (const id of named(64)) expect(m.resolve(id, APPROVE).verdict).toBe('accepted');
    for (const id of named(64)) asks(m, id, LARGE);
    expect(m.pending.length).toBeGreaterThan(3);
    expect(m.pending.length + refused(m).length).toBe(64);
    expect(new Set(refused(m))).toEqual(new Set(['too_many_calls']));
    expect(held(m)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
    // Refused questions do not count either.
    expect(carriedBytes(m.state)).toBeLessThan(2 * MAX_WAITING_BYTES);
    expectInvariants(m);
    expectViewsAgree(m.events);
  });

  it('include later questions of detached ones; one without capacity ends as new input', {
    ...promise('G185'),
  }, () => {
    const m = aMachineWith(modelCalls(named(50).map((id) => plannedCall(id, { mode: 'detach' }))));
    m.model(modelSays('they run'));
    for (const id of named(50)) asks(m, id, LARGE);
    const ended = m
      .all('inbox_event')
      .map(({ result: end }) => end?.envelope.ok === false && end.envelope.error.code);
    expect(m.pending.length).toBeGreaterThan(3);
    expect(m.pending.length + ended.length).toBe(50);
    expect(new Set(ended)).toEqual(new Set(['too_many_calls']));
    expect(held(m)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
    expectInvariants(m);
    expectViewsAgree(m.events);
  });

  it('may ask further questions within the capacity: the next question takes the place of the one before', () => {
    const m = aMachineWith(modelCalls(named(9).map((id) => plannedCall(id))));
    for (const round of [1, 2, 3]) {
      for (const id of named(9)) asks(m, id, LARGE);
      expect(m.pending.map(({ ask }) => ask)).toEqual(Array(9).fill(round));
      for (const { toolCallId, argsDigest } of m.pending)
        expect(m.resolve(toolCallId, answer(7), { argsDigest }).verdict).toBe('accepted');
    }
    expect(refused(m)).toEqual([]);
  });

  it('count twice the data that a detached call will show', () => {
    const answerSchema = { type: 'number', title: TITLE };
    const over = { executor: 'external', mode: 'detach', answerSchema } as const;
    const m = aMachineWith(modelCalls(named(60).map((id) => plannedCall(id, over))));
    expect(m.pending.length + refused(m).length).toBe(60);
    expect(held(m)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
    // The capacity is checked when the call is detached, and not a moment later.
    expect(m.all('inbox_event')).toEqual([]);
  });
});
