/** Any conversation, forked at any place: the origin's calls stay its own, and each call of the fork has one result. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { notReopened } from '../../../../src/core/fork/fork.js';
import type { ConversationState } from '../../../../src/core/state/state.js';
import { wholeMessages } from '../../../../src/core/state/transcript.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { SCHEDULE_SETTINGS } from '../../../support/builders/core-settings.js';
import { cutsOf, forkAt, stateAt } from '../../../support/forks/core-forks.js';
import { patient } from '../../../support/patience.js';
import { promise } from '../../../support/promise.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';
import { ScheduleRunner, schedule } from '../../../support/schedules/core-schedules.js';

const NUM_RUNS = Number(process.env['FC_RUNS'] ?? 100);

/** Ids of the calls that the messages ask for, and of those that have results, in their order. */
function callsIn(messages: readonly Message[]): { asked: string[]; answered: string[] } {
  const asked: string[] = [];
  const answered: string[] = [];
  for (const { parts } of messages)
    for (const part of parts) {
      if (part.type === 'tool_call') asked.push(part.toolCallId);
      if (part.type === 'tool_result') answered.push(part.toolCallId);
    }
  return { asked, answered };
}

/** A step with very many results has several such messages. */
function expectModelOrder(before: Message | undefined, results: Message): void {
  if (before?.role !== 'assistant') return;
  const { answered } = callsIn([results]);
  expect(callsIn([before]).asked.slice(0, answered.length)).toEqual(answered);
}

/** The calls that may wait anew in a fork from a seq. */
function reopenable(events: readonly CanonicalEvent[], seq: number): readonly string[] {
  const cut = stateAt(events, seq);
  return Object.keys(cut.calls).filter((callId) => notReopened(cut, callId) === undefined);
}

const messagesOf = ({ transcript }: ConversationState): readonly Message[] =>
  wholeMessages(transcript);

test('a fork has the messages of its origin, one result for each call, and no work of the origin', {
  ...promise('G379'),
  timeout: patient(60_000 + NUM_RUNS * 200),
}, () => {
  fc.assert(
    fc.property(
      schedule,
      fc.nat(SCHEDULE_SETTINGS.length - 1),
      fc.nat(),
      fc.nat(),
      (steps, settings, at, chosen) => {
        const { m } = steps.reduce((runner, step) => {
          runner.run(step);
          return runner;
        }, new ScheduleRunner(settings));
        const cuts = cutsOf(m.events);
        if (cuts.length === 0) return;
        const seq = cuts[at % cuts.length] ?? 0;
        const cut = stateAt(m.events, seq);
        const before = JSON.stringify(m.events);
        const reopen = Object.keys(cut.calls).filter(
          (callId, index) => (chosen >> index) % 2 === 1 && notReopened(cut, callId) === undefined,
        );
        const fork = forkAt(m, seq, { reopen });
        expectInvariants(fork);
        expect(JSON.stringify(m.events)).toBe(before);
        expect(fork.pending.map(({ toolCallId }) => toolCallId).toSorted()).toEqual(
          reopen.toSorted(),
        );
        const work = fork.effects().filter(({ type }) => !type.startsWith('await_'));
        expect(work).toEqual([]);
        const [old, own] = [messagesOf(cut), messagesOf(fork.state)];
        expect(own.slice(0, old.length)).toEqual(old);
        const { asked, answered } = callsIn(own);
        expect(new Set(answered).size).toBe(answered.length);
        const open = asked.filter((callId) => !answered.includes(callId));
        if (reopen.every((callId) => !open.includes(callId))) expect(open).toEqual([]);
        for (const [index, message] of own.entries())
          if (message.role === 'tool') expectModelOrder(own[index - 1], message);
      },
    ),
    { numRuns: NUM_RUNS },
  );
});

test('a fork goes on as any other conversation, with calls that wait anew', {
  ...promise('G379', 'G385'),
  timeout: patient(60_000 + NUM_RUNS * 200),
}, () => {
  fc.assert(
    fc.property(
      schedule,
      schedule,
      fc.nat(SCHEDULE_SETTINGS.length - 1),
      fc.nat(),
      fc.nat(),
      (before, after, settings, at, chosen) => {
        const { m } = before.reduce((runner, step) => {
          runner.run(step);
          return runner;
        }, new ScheduleRunner(settings));
        const cuts = cutsOf(m.events);
        const ofCalls = cuts.filter((seq) => reopenable(m.events, seq).length > 0);
        const places = ofCalls.length === 0 ? cuts : ofCalls;
        const seq = places[at % places.length];
        if (seq === undefined) return;
        const reopen = reopenable(m.events, seq).filter((_, index) => (chosen >> index) % 2 === 1);
        const fork = new ScheduleRunner(settings, {}, forkAt(m, seq, { reopen }));
        for (const step of after) fork.run(step);
        expectInvariants(fork.m);
      },
    ),
    { numRuns: NUM_RUNS },
  );
});
