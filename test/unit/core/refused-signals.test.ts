/** Answers that come as signals and are refused: the log has a few of them for each call, and the number of the rest. */
import { describe, expect, it } from 'vitest';
import { apply } from '../../../src/core/apply.js';
import { MAX_RECORDED_REFUSALS, MAX_REFUSED_CALLS } from '../../../src/protocol/limits.js';
import { gatedCall, modelCalls } from '../../support/core-builders.js';
import { aMachineWith, type MachineUnderTest } from '../../support/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../support/core-invariants.js';

const approve = (toolCallId: string, nth: number) => ({
  toolCallId,
  resolution: { type: 'approve' },
  requestId: `r${nth}`,
  actor: { id: `user-${nth}` },
});

function denied(): MachineUnderTest {
  const m = aMachineWith(modelCalls([gatedCall('a'), gatedCall('b')]));
  m.resolve('a', { type: 'deny' });
  return m;
}

function refuse(m: MachineUnderTest, toolCallId: string, times: number): void {
  for (let nth = 0; nth < times; nth += 1) m.machine.resolveBySignal(approve(toolCallId, nth));
}

describe('answers that come as signals and are refused', () => {
  it('are written down three times for each call, however many come', () => {
    const m = denied();
    refuse(m, 'a', 1_000);
    expect(
      m.all('resolution_refused').map(({ requestId, verdict }) => [requestId, verdict]),
    ).toEqual([
      ['r0', 'stale'],
      ['r1', 'stale'],
      ['r2', 'stale'],
    ]);
    expectInvariants(m);
  });

  it('are all judged, and their number stands in the next event, whatever that is', () => {
    const m = denied();
    refuse(m, 'a', 10);
    expect(m.machine.resolveBySignal(approve('a', 11)).verdict).toBe('stale');
    m.resolve('b', { type: 'approve' });
    expect(m.events.filter((event) => event.unrecordedRefusals !== undefined)).toMatchObject([
      { type: 'resolution', toolCallId: 'b', unrecordedRefusals: 8 },
    ]);
    expectViewsAgree(m.events);
  });

  it('are counted by call: another one has its own three', () => {
    const m = denied();
    m.resolve('b', { type: 'deny' });
    refuse(m, 'a', 5);
    refuse(m, 'b', 5);
    const calls = m.all('resolution_refused').map(({ toolCallId }) => toolCallId);
    expect(calls).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
    // The first of b brings what was not written down of a.
    expect(m.all('resolution_refused')[3]).toMatchObject({ unrecordedRefusals: 2 });
  });

  it('of calls that nobody knows share three, since their ids are without number', () => {
    const m = denied();
    for (let nth = 0; nth < 500; nth += 1) refuse(m, `guess-${nth}`, 1);
    expect(m.all('resolution_refused')).toHaveLength(MAX_RECORDED_REFUSALS);
  });

  it('stay counted over a roll-over, whose own event has the rest', () => {
    const m = denied();
    refuse(m, 'a', 5);
    m.rollOver();
    refuse(m, 'a', 5);
    expect(m.all('resolution_refused')).toHaveLength(MAX_RECORDED_REFUSALS);
  });

  it('leave the state of a conversation bounded', () => {
    const m = denied();
    let state = m.state;
    for (let nth = 0; nth < 300; nth += 1) {
      const event = {
        ...m.events[0],
        type: 'resolution_refused' as const,
        seq: state.lastSeq + 1,
        at: state.updatedAt,
        toolCallId: `${nth}`,
        verdict: 'stale' as const,
        requestId: 'r',
        actor: { id: 'x', verified: false, channel: 'client' as const },
        detail: '',
      };
      state = apply(state, event);
    }
    expect(Object.keys(state.refusals ?? {})).toHaveLength(MAX_REFUSED_CALLS);
  });
});
