/** A call of the state is a union by its status: the compiler's side is checked by `tsc -p test`. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { apply } from '../../../../src/core/apply/apply.js';
import { expiryEvents } from '../../../../src/core/events/resolutions.js';
import type {
  CallState,
  EndedCall,
  LateCall,
  LostCall,
  OpenCall,
  RunningCall,
  SuspendedCall,
  WaitingCall,
} from '../../../../src/core/state/calls.js';
import { hasEnded } from '../../../../src/core/state/calls.js';
import type { ToolResult } from '../../../../src/protocol/calls/results.js';
import type { Suspension } from '../../../../src/protocol/calls/suspensions.js';
import type { EventBody, EventType } from '../../../../src/protocol/log/events.js';
import { toolLost } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVAL_MS,
  APPROVE,
  actor,
  answer,
  DENY,
  gatedCall,
  modelCalls,
  plannedCall,
  turn,
} from '../../../support/builders/core-builders.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

describe('types of calls', () => {
  it('a call that runs has neither a suspension nor a result', () => {
    expectTypeOf<RunningCall['suspension']>().toEqualTypeOf<undefined>();
    expectTypeOf<RunningCall['result']>().toEqualTypeOf<undefined>();
    expectTypeOf<EndedCall['suspension']>().toEqualTypeOf<undefined>();
    // @ts-expect-error a call that runs waits for nothing
    const waitOf = ({ suspension }: RunningCall): Suspension => suspension;
    expectTypeOf(waitOf).toBeFunction();
  });

  it('a phase has its own fields for certain', () => {
    expectTypeOf<WaitingCall['suspension']>().toEqualTypeOf<Suspension>();
    expectTypeOf<WaitingCall['result']>().toEqualTypeOf<undefined>();
    expectTypeOf<EndedCall['result']>().toEqualTypeOf<ToolResult>();
    expectTypeOf<LateCall['closedWait']>().toEqualTypeOf<Suspension>();
    expectTypeOf<LostCall['lost']>().not.toBeNullable();
  });

  it('a change of status that keeps the fields of the phase before does not compile', () => {
    const leave = (call: WaitingCall, result: ToolResult): CallState[] => {
      const { suspension: _closed, ...rest } = call;
      return [
        { ...rest, status: 'running' },
        { ...rest, status: 'errored', result },
        // @ts-expect-error the suspension has to go
        { ...call, status: 'running' },
        // @ts-expect-error the suspension has to go
        { ...call, status: 'errored', result },
        // @ts-expect-error a call that has ended has a result
        { ...rest, status: 'errored' },
      ];
    };
    expectTypeOf(leave).toBeFunction();
  });

  it('reading a field narrows a call to its phase', () => {
    const narrow = (call: CallState): void => {
      if (call.suspension !== undefined) expectTypeOf(call).toEqualTypeOf<SuspendedCall>();
      if (call.status === 'awaiting_approval') expectTypeOf(call).toEqualTypeOf<WaitingCall>();
      if (call.result === undefined) expectTypeOf(call).toEqualTypeOf<OpenCall>();
      if (hasEnded(call)) expectTypeOf(call).toEqualTypeOf<EndedCall>();
    };
    expectTypeOf(narrow).toBeFunction();
    expectTypeOf(expiryEvents).parameter(0).toEqualTypeOf<SuspendedCall>();
  });
});

const at = '2026-03-01T13:00:00.000Z';
const of = { turnId: turn(1), toolCallId: 'c' };
const result: ToolResult = {
  status: 'errored',
  envelope: { ok: false, error: { code: 'tool_error', message: 'no' } },
  provenance: 'trusted',
};
const pending: ToolResult = {
  status: 'detached',
  envelope: { ok: true, result: null },
  provenance: 'trusted',
};
const by = { kind: 'approval', actor: actor('ann'), requestId: 'r' } as const;
const approval: Suspension = {
  ...{ ...of, name: 'server.tool', executor: 'server', kind: 'approval', prompt: null },
  ...{ openedAt: at, deadline: at },
};
const EVENTS = {
  suspension: { type: 'suspension', suspension: approval },
  outcomeHeld: { type: 'suspension', suspension: { ...approval, kind: 'outcome' } },
  resolution: { type: 'resolution', ...of, ...by, resolution: APPROVE },
  reverted: { type: 'resolution_reverted', ...of, requestId: 'r', problems: [] },
  expired: { type: 'expired', ...of, kind: 'approval', deadline: at },
  toolLost: { type: 'tool_lost', ...of, run: 1, reason: 'lost' },
  reconciled: { type: 'tool_reconciled', ...of, run: 1, outcome: 'not_happened' },
  toolResult: { type: 'tool_result', ...of, name: 'server.tool', result },
  detached: { type: 'tool_result', ...of, name: 'server.tool', result: pending },
} satisfies Record<string, EventBody>;

/** A second call keeps the step open. */
const calling = (over: Parameters<typeof plannedCall>[1] = {}): MachineUnderTest =>
  aMachineWith(modelCalls([plannedCall('c', over), plannedCall('other')]));
const gated = (): MachineUnderTest =>
  aMachineWith(modelCalls([gatedCall('c'), plannedCall('other')]));
const lost = (over: Parameters<typeof plannedCall>[1]): MachineUnderTest => {
  const m = calling({ effects: 'once', ...over });
  toolLost(m.machine, 'c', { timedOut: false, message: 'lost' });
  return m;
};
const resolved = (m: MachineUnderTest, ...given: Parameters<MachineUnderTest['resolve']>) => {
  m.resolve(...given);
  return m;
};

const UNFIT: Readonly<Record<string, [MachineUnderTest, readonly (keyof typeof EVENTS)[]]>> = {
  'that runs': [calling(), ['outcomeHeld', 'reverted', 'expired', 'reconciled']],
  'that waits': [gated(), ['outcomeHeld', 'reverted', 'toolLost', 'reconciled']],
  'whose answer runs': [resolved(gated(), 'c', APPROVE), ['outcomeHeld', 'expired', 'reconciled']],
  'whose loss is looked into': [lost({ reconcile: true }), ['reverted', 'expired']],
  'whose outcome is held': [
    lost({ onOutcomeUnknown: 'hold' }),
    ['reverted', 'toolLost', 'reconciled'],
  ],
  'that is detached': [
    calling({ mode: 'detach' }),
    ['reverted', 'expired', 'reconciled', 'toolResult', 'detached'],
  ],
  'that has ended': [
    resolved(gated(), 'c', DENY),
    [
      'suspension',
      'outcomeHeld',
      'resolution',
      'reverted',
      'expired',
      'toolLost',
      'reconciled',
      'toolResult',
      'detached',
    ],
  ],
  'that takes a late result': [
    calling({ executor: 'external', lateResult: 'inbox' }).advance(ANSWER_MS),
    [
      'suspension',
      'outcomeHeld',
      'reverted',
      'expired',
      'toolLost',
      'reconciled',
      'toolResult',
      'detached',
    ],
  ],
};

describe('an event that does not fit the phase of its call', () => {
  for (const [title, [m, unfit]] of Object.entries(UNFIT))
    it.each(unfit)(`leaves a call ${title} as it is: %s`, (name) => {
      const { state } = m;
      const after = apply(state, { ...EVENTS[name], seq: state.lastSeq + 1, at });
      expect(after.calls['c']).toEqual(state.calls['c']);
    });

  it('is not any event: the same ones change a call that they fit', () => {
    const before = gated().state;
    const seq = before.lastSeq + 1;
    expect(apply(before, { ...EVENTS.expired, seq, at }).calls['c']?.status).toBe('expired');
    expect(apply(before, { ...EVENTS.resolution, seq, at }).calls['c']?.status).toBe('running');
    const asked = resolved(calling({ executor: 'human', recheckAnswer: true }), 'c', answer(1));
    const reverted = { ...EVENTS.reverted, seq: asked.state.lastSeq + 1, at };
    expect(apply(asked.state, reverted).calls['c']).toHaveProperty('reopenUntil');
  });
});

/** The log of the machine until the last event of this type, which a repaired run continues. */
const repairedAfter = (m: MachineUnderTest, type: EventType): CallState | undefined =>
  m.repairAt(m.last(type).seq).state.calls['c'];

describe('a log that ends before the result of a call', () => {
  it('after an expiry lets the call wait anew', () => {
    const approval = repairedAfter(gated().advance(APPROVAL_MS), 'expired');
    expect(approval).toMatchObject({ status: 'awaiting_approval', suspension: {} });
    const outside = { executor: 'external', mode: 'detach', lateResult: 'inbox' } as const;
    const detached = repairedAfter(calling(outside).advance(ANSWER_MS), 'expired');
    expect(detached).toMatchObject({ status: 'detached', suspension: {} });
    const held = lost({ onOutcomeUnknown: 'hold' }).advance(ANSWER_MS);
    expect(repairedAfter(held, 'expired')).toMatchObject({ status: 'outcome_unknown' });
  });

  it('after an expiry lets a rule decide the call', () => {
    const m = aMachineWith(modelCalls([gatedCall('c'), gatedCall('b'), plannedCall('other')]));
    m.resolve('b', { type: 'approve', remember: { for: 'conversation' } });
    m.advance(APPROVAL_MS);
    expect(repairedAfter(m, 'expired')).toMatchObject({ status: 'running', approver: {} });
  });

  it('after a reported outcome asks for the outcome again', () => {
    const m = lost({ onOutcomeUnknown: 'hold' });
    m.resolve('c', { type: 'outcome', value: 1 });
    const call = repairedAfter(m, 'resolution');
    expect(call).toMatchObject({ status: 'outcome_unknown', suspension: { kind: 'outcome' } });
  });
});
