/**
 * Six calls at once, one of each way to wait, answered in any order, twice, late and across kills: the model reads
 * each result exactly once, in its own order (S7).
 */

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { toolLost } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';

const CALLS = ['s1', 'c', 'h', 's2', 'e', 'd'];

const sixCalls = () =>
  modelCalls([
    plannedCall('s1'),
    plannedCall('c', { executor: 'client', approval: { needed: true } }),
    plannedCall('h', { executor: 'human' }),
    plannedCall('s2'),
    plannedCall('e', { executor: 'external' }),
    plannedCall('d', { executor: 'external', mode: 'detach', lateResult: 'inbox' }),
  ]);

/** Every input that the calls may get; each may come when it fits or not. */
const ACTIONS: Readonly<Record<string, (m: MachineUnderTest, requestId: string) => unknown>> = {
  's1 runs': (m) => m.tool('s1', 's1'),
  's2 runs': (m) => m.tool('s2', 's2'),
  's2 is lost': (m) => toolLost(m.machine, 's2', { timedOut: true, message: 'lost' }),
  'c is approved': (m, requestId) => m.resolve('c', { type: 'approve' }, { requestId }),
  'c is denied': (m, requestId) => m.resolve('c', { type: 'deny' }, { requestId }),
  'c returns': (m, requestId) => m.resolve('c', { type: 'result', value: 'c' }, { requestId }),
  'h answers': (m, requestId) => m.resolve('h', { type: 'answer', value: 'h' }, { requestId }),
  'e submits': (m, requestId) => m.resolve('e', { type: 'result', value: 'e' }, { requestId }),
  'e fails': (m, requestId) => m.resolve('e', { type: 'error', message: 'no' }, { requestId }),
  'd submits': (m, requestId) => m.resolve('d', { type: 'result', value: 'd' }, { requestId }),
  'the worker is killed': (m) => m.restart(),
  'the run rolls over': (m) => m.rollOver(),
  'time passes': (m) => m.advance(ANSWER_MS / 3),
};

it('gives the model each result once, in call order, in any order of inputs (200 schedules)', {
  ...promise('G115'),
}, () => {
  const step = fc.record({
    action: fc.constantFrom(...Object.keys(ACTIONS)),
    // Few ids, so that repeats are frequent.
    request: fc.nat(12),
  });
  const verdicts = new Set<unknown>();
  const killed = new Set<string>();
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
      const m = aMachineWith(sixCalls());
      for (const { action, request } of steps) {
        const said = ACTIONS[action]?.(m, `request-${action}-${request}`);
        verdicts.add(verdictOf(said));
        if (m.pending.length > 0) killed.add(action);
        if (m.state.turn === undefined || m.state.turn.step > 1) break;
      }
      // A call without an answer by now never gets one.
      m.tool('s1', 's1').tool('s2', 's2');
      m.advance(30 * 24 * 3_600_000);
      m.advance(30 * 24 * 3_600_000);
      expectInvariants(m);
      const message = m.messages.find(({ role }) => role === 'tool');
      const parts = message?.role === 'tool' ? message.parts : [];
      expect(parts.map(({ toolCallId }) => toolCallId)).toEqual(CALLS);
      expect(
        m
          .all('tool_result')
          .map(({ toolCallId }) => toolCallId)
          .toSorted(),
      ).toEqual(CALLS.toSorted());
      for (let round = 0; round < 4 && m.state.turn !== undefined; round += 1)
        m.model(modelSays('done'));
      expect(m.state.turn).toBeUndefined();
      // Every input is repeated at the end: a result changes nothing, unless it is the first one of the detached
      // call.
      const transcript = m.messages.slice(0, 3);
      for (const [action, again] of Object.entries(ACTIONS))
        verdicts.add(verdictOf(again(m, `request-${action}-again`)));
      for (let round = 0; round < 4 && m.state.turn !== undefined; round += 1)
        m.model(modelSays('noted'));
      expectInvariants(m);
      expect(m.messages.slice(0, 3)).toEqual(transcript);
      expect(m.all('tool_result')).toHaveLength(CALLS.length);
      const later = m.messages.filter(
        ({ role, parts: said }) => role === 'user' && JSON.stringify(said).includes('(call d)'),
      );
      // A late result adds a message to that of the expiry: each appears once.
      const read = later.map(({ parts: said }) => JSON.stringify(said).includes('\\"ok\\":true'));
      expect(read.filter(Boolean).length).toBeLessThanOrEqual(1);
      expect(read.filter((isResult) => !isResult).length).toBeLessThanOrEqual(1);
      expect(read.length).toBeGreaterThanOrEqual(1);
    }),
    { numRuns: 200 },
  );
  // Calls were in fact answered twice, late and across kills.
  for (const verdict of ['accepted', 'duplicate', 'stale', 'expired', 'accepted_late'])
    expect(verdicts).toContain(verdict);
  for (const action of ['the worker is killed', 'the run rolls over'])
    expect(killed).toContain(action);
});

function verdictOf(said: unknown): unknown {
  return typeof said === 'object' && said !== null && 'verdict' in said ? said.verdict : undefined;
}
