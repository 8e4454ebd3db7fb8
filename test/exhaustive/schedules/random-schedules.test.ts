/** Any inputs in any order: the invariants of the core hold after every step, and every schedule comes to rest. */

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyAll } from '../../../src/core/apply/apply.js';
import { decide } from '../../../src/core/decide/decide.js';
import { isInternal } from '../../../src/core/events/internal.js';
import { closeConversation, resolve } from '../../support/builders/verbs.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { expectInvariants, expectViewsAgree } from '../../support/schedules/core-invariants.js';
import type { Step } from '../../support/schedules/core-schedules.js';
import { ScheduleRunner, schedule } from '../../support/schedules/core-schedules.js';

/** `FC_RUNS=20000` for a long search. */
const RUNS = Number(process.env['FC_RUNS'] ?? 0);
const runs = (usual: number): { numRuns: number } => ({ numRuns: RUNS > 0 ? RUNS : usual });
const TIMEOUT_MS = 180_000 + RUNS * 50;

function runAll(steps: readonly Step[]): ScheduleRunner {
  const runner = new ScheduleRunner(steps.length);
  for (const step of steps) runner.run(step);
  return runner;
}

function verdictOf(event: { readonly late?: true } | undefined): string {
  return event?.late === true ? 'accepted_late' : 'accepted';
}

/** Events and refusals that random schedules must reach, or the properties prove nothing about them. */
const REACHED = [
  ...[
    'summary',
    'user_message',
    'message_refused',
    'inbox_event',
    'cancel_requested',
    'rolled_over',
  ],
  ...['tool_call', 'call_prepared', 'call_planned', 'tool_lost', 'tool_asked', 'tool_result'],
  ...['suspension', 'suspension_expiring', 'extended', 'expired', 'claimed', 'lease_lost'],
  ...['resolution', 'late', 'resolution_reverted', 'input_edited'],
  ...['unknown', 'forbidden', 'stale', 'expired', 'invalid'].map((verdict) => `told ${verdict}`),
  ...['rule_remembered', 'rule_revoked', 'rule: approve', 'rule: deny'],
  ...['turn_limit_reached', 'turn_ended', 'conversation_closed'],
  'agent_changed',
  ...['starting', 'started', 'stopping', 'ended'].map((status) => `child ${status}`),
];

describe('random schedules', () => {
  it(
    'reach every kind of event, every refusal, and decisions of remembered rules',
    () => {
      const seen = new Set<string>();
      for (const steps of fc.sample(schedule, { numRuns: 800, seed: 7 }))
        for (const event of runAll(steps).m.events) {
          seen.add(event.type);
          if (event.type === 'child_changed') seen.add(`child ${event.status}`);
          if (event.type === 'resolution_refused') seen.add(`told ${event.verdict}`);
          if (event.type !== 'resolution') continue;
          if (event.late === true) seen.add('late');
          if (event.rule !== undefined) seen.add(`rule: ${event.resolution.type}`);
        }
      expect(REACHED.filter((kind) => !seen.has(kind))).toEqual([]);
    },
    patient(TIMEOUT_MS),
  );
});

describe('any schedule', () => {
  it('keeps every invariant after every step', {
    ...promise('G86', 'G114', 'A29'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        const runner = new ScheduleRunner(steps.length);
        for (const step of steps) {
          runner.run(step);
          expectInvariants(runner.m);
        }
      }),
      runs(300),
    );
  });

  it('comes to rest when everything is answered: every turn has ended, every call has its result', {
    ...promise('G87'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        const runner = runAll(steps);
        runner.drain();
        const { m } = runner;
        expectInvariants(m);
        expect(m.state.turn).toBeUndefined();
        expect(m.state.queue).toEqual([]);
        const ofTheirOwn = m.all('user_message').filter(({ onBusy }) => onBusy !== 'steer');
        const ofTheInbox = m.all('turn_started').filter(({ inbox }) => inbox !== undefined);
        expect(m.all('turn_ended')).toHaveLength(ofTheirOwn.length + ofTheInbox.length);
        expect(m.all('tool_result')).toHaveLength(m.all('tool_call').length);
      }),
      runs(400),
    );
  });

  it('shows readers of the log the snapshot of its state, at every event', {
    ...promise('A33', 'A56'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        expectViewsAgree(runAll(steps).m.events);
      }),
      runs(150),
    );
  });

  it(
    'closed at any point and opened again continues with a whole transcript and a dense log',
    () => {
      fc.assert(
        fc.property(schedule, schedule, fc.boolean(), (before, after, closed) => {
          const runner = runAll(before);
          const { m } = runner;
          if (closed) closeConversation(m.machine);
          m.reopen('chain0000009');
          expectInvariants(m);
          for (const step of after) runner.run(step);
          expectInvariants(m);
        }),
        runs(150),
      );
    },
    patient(TIMEOUT_MS),
  );

  it(
    'cut off at any event can be folded and opened again',
    () => {
      fc.assert(
        fc.property(schedule, fc.nat(), (steps, cut) => {
          const { m } = runAll(steps);
          m.events.length = 1 + (cut % m.events.length);
          m.reopen('chain0000009');
          expectInvariants({ state: m.state, events: m.events });
          expect(applyAll(m.events)).toEqual(m.state);
        }),
        runs(150),
      );
    },
    patient(TIMEOUT_MS),
  );

  it(
    'cut off at any event leaves nothing internal to do when a repaired run continues it',
    () => {
      fc.assert(
        fc.property(schedule, fc.nat(), (steps, cut) => {
          const { m } = runAll(steps);
          m.repairAt(1 + (cut % m.events.length));
          expect(decide(m.state).filter(isInternal)).toEqual([]);
          expect(applyAll(m.events)).toEqual(m.state);
        }),
        runs(600),
      );
    },
    patient(TIMEOUT_MS),
  );

  it(
    'repeats to each sender the verdict that was recorded, even after the end, and accepts nothing twice',
    () => {
      fc.assert(
        fc.property(schedule, (steps) => {
          const { m } = runAll(steps);
          closeConversation(m.machine);
          // Answers of a rule have no sender.
          const resolutions = m.all('resolution').filter(({ rule }) => rule === undefined);
          const reverted = new Set(
            m
              .all('resolution_reverted')
              .map((event) =>
                resolutions.findLast(
                  (entry) => entry.seq < event.seq && entry.toolCallId === event.toolCallId,
                ),
              ),
          );
          const before = m.events.length;
          for (const event of resolutions) {
            const again = resolve(m.machine, event);
            const same = resolutions.filter(
              (entry) =>
                entry.requestId === event.requestId &&
                entry.toolCallId === event.toolCallId &&
                !reverted.has(entry),
            );
            const last = same.at(-1);
            if (last === undefined) expect(['stale', 'expired']).toContain(again.verdict);
            // The id was free again after its first answer was reverted, and another answer took it.
            else if (last.digest !== event.digest)
              expect(again).toMatchObject({
                verdict: 'invalid',
                problems: [{ path: '/requestId' }],
              });
            else
              expect(again).toEqual({
                verdict: 'duplicate',
                first: {
                  verdict: verdictOf(last),
                  toolCallId: event.toolCallId,
                  seq: last.seq,
                },
              });
          }
          expect(m.events).toHaveLength(before);
        }),
        runs(200),
      );
    },
    patient(TIMEOUT_MS),
  );
});
