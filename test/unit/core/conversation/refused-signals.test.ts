/**
 * Messages and answers that come as signals and are refused: the log has a few of them for each call or turn, and the
 * number of the rest.
 */

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apply } from '../../../../src/core/apply/apply.js';
import {
  MAX_REASON_CHARS,
  MAX_RECORDED_REFUSALS,
  MAX_REFUSED_CALLS,
  MAX_REFUSED_MESSAGES,
  MAX_REQUEST_ID_CHARS,
} from '../../../../src/protocol/limits/limits.js';
import {
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import {
  resolveBySignal,
  sendMessage,
  sendMessageBySignal,
  takeInboxSignal,
} from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';
import { expectInvariants, expectViewsAgree } from '../../../support/schedules/core-invariants.js';

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
  for (let nth = 0; nth < times; nth += 1) resolveBySignal(m.machine, approve(toolCallId, nth));
}

describe('answers that come as signals and are refused', () => {
  it('are recorded three times for each call, of any number', promise('G28'), () => {
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

  it('are all judged, and their number stands in the next event of any type', {
    ...promise('G28'),
  }, () => {
    const m = denied();
    refuse(m, 'a', 10);
    expect(resolveBySignal(m.machine, approve('a', 11)).verdict).toBe('stale');
    m.resolve('b', { type: 'approve' });
    expect(m.events.filter((event) => event.unrecordedRefusals !== undefined)).toMatchObject([
      { type: 'resolution', toolCallId: 'b', unrecordedRefusals: 8 },
    ]);
    expectViewsAgree(m.events);
  });

  it('are counted in an event whose effect stays the same, also for the model', () => {
    const m = aMachine();
    sendMessage(m.machine, { text: 'go' });
    const turnId = m.machine.state.turn?.turnId ?? '';
    let { state } = m;
    const known = m.events.length;
    m.modelCompleted({ turnId, step: 1 }, modelSays('hello'));
    for (const event of m.events.slice(known))
      state = apply(state, { ...event, unrecordedRefusals: 2 });
    expect(state).toEqual(m.state);
  });

  it('are counted by call: another one has its own three', () => {
    const m = denied();
    m.resolve('b', { type: 'deny' });
    refuse(m, 'a', 5);
    refuse(m, 'b', 5);
    const calls = m.all('resolution_refused').map(({ toolCallId }) => toolCallId);
    expect(calls).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
    // The first answer to b brings the count of those to a that were not recorded.
    expect(m.all('resolution_refused')[3]).toMatchObject({ unrecordedRefusals: 2 });
  });

  it('that name no call share the three of unknown calls', () => {
    const m = denied();
    for (const garbage of [null, 7, {}]) resolveBySignal(m.machine, garbage);
    refuse(m, 'nobody', 1);
    expect(m.all('resolution_refused').map(({ toolCallId }) => toolCallId)).toEqual(['', '', '']);
    m.resolve('b', { type: 'approve' });
    expect(m.all('resolution')[1]).toMatchObject({ unrecordedRefusals: 1 });
  });

  it('of unknown calls share three, since there is no bound on their ids', () => {
    const m = denied();
    for (let nth = 0; nth < 500; nth += 1) refuse(m, `guess-${nth}`, 1);
    expect(m.all('resolution_refused')).toHaveLength(MAX_RECORDED_REFUSALS);
  });

  it('are recorded with texts of a bounded length', () => {
    const m = aMachine();
    const long = 'x'.repeat(5_000);
    sendMessageBySignal(m.machine, { requestId: long });
    expect(m.last('message_refused').requestId).toHaveLength(MAX_REQUEST_ID_CHARS);
    resolveBySignal(m.machine, { ...approve(long, 1), requestId: long });
    const { toolCallId, requestId } = m.last('resolution_refused');
    expect(toolCallId).toHaveLength(200);
    expect(requestId.length).toBeLessThanOrEqual(MAX_REQUEST_ID_CHARS);
    m.send('go');
    const required = Array.from({ length: 100 }, (_, nth) => `${nth}${'x'.repeat(100)}`);
    const answerSchema = { type: 'object', required };
    m.model(modelCalls([plannedCall('q', { executor: 'human', answerSchema })]));
    resolveBySignal(m.machine, { ...approve('q', 2), resolution: { type: 'answer', value: {} } });
    expect(m.last('resolution_refused').detail).toHaveLength(MAX_REASON_CHARS);
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

/** A turn runs, so messages that do not allow queueing are refused. */
function busy(): MachineUnderTest {
  const m = aMachine();
  m.send('hello');
  return m;
}

const message = (requestId: string) => ({ text: 'and this', requestId, actor: { id: 'ann' } });
const GARBAGE = { text: 7 };
const foreignEvent = (eventId: string) => ({ eventId, kind: 'k', payload: 1, agent: 'another' });

function recordedIds(m: MachineUnderTest): readonly string[] {
  return m.all('message_refused').map(({ requestId }) => requestId);
}

function countedIn(m: MachineUnderTest): number {
  return m.events.reduce((sum, { unrecordedRefusals = 0 }) => sum + unrecordedRefusals, 0);
}

describe('messages that come as signals and are refused', () => {
  it.each<[what: string, nth: (n: number) => unknown, recorded: number]>([
    ['copies of one message', () => message('same'), MAX_RECORDED_REFUSALS],
    ['messages without an id', () => ({ text: 'and this' }), MAX_RECORDED_REFUSALS],
    ['garbage', () => GARBAGE, MAX_RECORDED_REFUSALS],
    ['nothing at all', () => undefined, MAX_RECORDED_REFUSALS],
    ['ids that are numbers', (n) => message(`${n % 2}`), 2 * MAX_RECORDED_REFUSALS],
    ['a name of the language', () => message('__proto__'), MAX_RECORDED_REFUSALS],
    ['messages of many ids', (n) => message(`m-${n}`), MAX_REFUSED_MESSAGES],
  ])(
    'are recorded a few times in one turn: a thousand of %s',
    promise('G29'),
    (_what, nth, recorded) => {
      const m = busy();
      for (let n = 0; n < 1_000; n += 1) sendMessageBySignal(m.machine, nth(n));
      expect(m.all('message_refused')).toHaveLength(recorded);
      m.model(modelSays('done'));
      expect(countedIn(m)).toBe(1_000 - recorded);
      expectInvariants(m);
      expectViewsAgree(m.events);
    },
  );

  it('and events of other systems that are refused share the bound', () => {
    const m = busy();
    for (let n = 0; n < 15; n += 1) sendMessageBySignal(m.machine, message(`m-${n}`));
    for (let n = 0; n < 15; n += 1) takeInboxSignal(m.machine, foreignEvent(`e-${n}`));
    expect(recordedIds(m).slice(-5)).toEqual(['e-0', 'e-1', 'e-2', 'e-3', 'e-4']);
    expect(recordedIds(m)).toHaveLength(MAX_REFUSED_MESSAGES);
  });

  it('are recorded again in the next turn, the first of which brings the number of the rest', () => {
    const m = busy();
    for (let n = 0; n < 5; n += 1) sendMessageBySignal(m.machine, message('same'));
    m.model(modelSays('done'));
    m.send('the next');
    for (let n = 0; n < 5; n += 1) sendMessageBySignal(m.machine, message('same'));
    expect(recordedIds(m)).toEqual(Array.from({ length: 6 }, () => 'same'));
    expect(Object.keys(m.state.refusedMessages?.byId ?? {})).toHaveLength(1);
  });

  it('stay counted over a roll-over', () => {
    const m = busy();
    for (let n = 0; n < 5; n += 1) sendMessageBySignal(m.machine, message('same'));
    m.rollOver();
    for (let n = 0; n < 5; n += 1) sendMessageBySignal(m.machine, message('same'));
    expect(recordedIds(m)).toHaveLength(MAX_RECORDED_REFUSALS);
  });
});

describe('signals of any kind, in any order', () => {
  const anId = fc.integer({ min: 0, max: 60 }).map(String);
  const step = fc.oneof(
    fc.record({ kind: fc.constant('message' as const), id: anId }),
    fc.record({ kind: fc.constant('event' as const), id: anId }),
    fc.record({ kind: fc.constant('answer' as const), id: anId }),
    fc.record({ kind: fc.constant('turn' as const), id: anId }),
    fc.record({ kind: fc.constant('roll_over' as const), id: anId }),
  );

  it('are recorded or counted, and each turn has a bounded number of refused messages', {
    ...promise('G29'),
  }, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const m = busy();
        let refused = 0;
        let turns = 1;
        for (const { kind, id } of steps) {
          if (kind === 'roll_over') m.rollOver();
          else if (kind === 'turn') {
            m.model(modelSays('done'));
            m.send('the next');
            turns += 1;
          } else {
            refused += 1;
            if (kind === 'message') sendMessageBySignal(m.machine, message(`m-${id}`));
            else if (kind === 'event') takeInboxSignal(m.machine, foreignEvent(`e-${id}`));
            else resolveBySignal(m.machine, approve(id, refused));
          }
        }
        m.model(modelSays('done'));
        const answers = m.all('resolution_refused').length;
        const messages = recordedIds(m).length;
        expect(answers + messages + countedIn(m)).toBe(refused);
        expect(messages).toBeLessThanOrEqual(turns * MAX_REFUSED_MESSAGES);
        expect(answers).toBeLessThanOrEqual(MAX_RECORDED_REFUSALS);
        expectInvariants(m);
      }),
      { numRuns: 40 },
    );
  });
});
