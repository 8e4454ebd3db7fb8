/** What the calls that wait hold together is bounded: every roll-over carries it. */
import { describe, expect, it } from 'vitest';
import { utf8Bytes } from '../../../src/protocol/json.js';
import { MAX_WAITING_BYTES } from '../../../src/protocol/limits.js';
import type { PlannedCall } from '../../../src/protocol/tools.js';
import {
  APPROVE,
  gatedCall,
  modelCalls,
  plannedCall,
  result,
} from '../../support/core-builders.js';
import { aMachineWith, type MachineUnderTest } from '../../support/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../support/core-invariants.js';

const KB = 1_024;
const named = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `c${index}`);
const bulky = (bytes: number) => ({ input: { text: 'x'.repeat(bytes) } });

function gated(count: number, bytes: number): readonly PlannedCall[] {
  return named(count).map((id) => gatedCall(id, bulky(bytes)));
}

/** Of the calls that wait, or are detached, as a roll-over carries them. */
function held({ state }: MachineUnderTest): number {
  const waiting = Object.values(state.calls).filter(
    ({ suspension, aside }) => suspension !== undefined || aside === 'detached',
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

describe('calls that wait', () => {
  it('hold so much together; those beyond are errors that the model reads, and the others wait', () => {
    const m = aMachineWith(modelCalls([...gated(20, 20 * KB)]));
    expect(m.pending.length).toBeGreaterThan(3);
    expect(m.pending.length + refused(m).length).toBe(20);
    expect(new Set(refused(m))).toEqual(new Set(['too_many_calls']));
    expect(held(m)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
    expect(held(m)).toBeGreaterThan(0.7 * MAX_WAITING_BYTES);
    expectInvariants(m);
    expectViewsAgree(m.events);
    // Where one has ended, there is room again.
    const waiting = m.pending.map(({ toolCallId }) => toolCallId);
    for (const id of waiting) expect(m.resolve(id, APPROVE).verdict).toBe('accepted');
    for (const id of waiting) m.tool(id);
    m.model(modelCalls([gatedCall('later', bulky(20 * KB))]));
    expect(m.pending.map(({ toolCallId }) => toolCallId)).toEqual(['later']);
  });

  it('may hold more where one is alone: its bound is that of its arguments', () => {
    const m = aMachineWith(modelCalls([...gated(2, 190 * KB)]));
    expect(m.pending).toHaveLength(1);
    expect(held(m)).toBeGreaterThan(MAX_WAITING_BYTES);
    expect(refused(m)).toEqual(['too_many_calls']);
  });

  it('count detached ones, which nobody waits for, too', () => {
    const detached = named(20).map((id) =>
      plannedCall(id, { executor: 'external', mode: 'detach', ...bulky(20 * KB) }),
    );
    const m = aMachineWith(modelCalls(detached));
    expect(m.pending.length).toBeGreaterThan(3);
    expect(m.pending.length + refused(m).length).toBe(20);
    expect(held(m)).toBeLessThanOrEqual(MAX_WAITING_BYTES);
  });

  it('are not refused when they wait for the second time: an approved call runs where it runs', () => {
    const calls = named(9).map((id) => gatedCall(id, { executor: 'external', ...bulky(10 * KB) }));
    const m = aMachineWith(modelCalls(calls));
    expect(m.pending).toHaveLength(9);
    for (const id of named(9)) expect(m.resolve(id, APPROVE).verdict).toBe('accepted');
    expect(m.pending.map(({ kind }) => kind)).toEqual(Array(9).fill('external_execution'));
    for (const id of named(9)) expect(m.resolve(id, result('done')).verdict).toBe('accepted');
    expect(refused(m)).toEqual([]);
  });

  it('all wait in conversations that began before there was a bound', () => {
    const settings = { coreRevision: 6 };
    const m = aMachineWith(modelCalls([...gated(20, 20 * KB)]), { settings });
    expect(m.pending).toHaveLength(20);
  });
});
