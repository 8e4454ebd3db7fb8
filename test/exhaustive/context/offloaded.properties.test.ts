/** A conversation whose oldest messages are offloaded at any time: its state is plain data, and a fold of its log. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apply, applyAll } from '../../../src/core/apply/apply.js';
import { assembleContext } from '../../../src/core/context/assemble.js';
import {
  carriedBytes,
  droppedAtRollOver,
  heldBytesOf,
  markOf,
  offloadPlan,
} from '../../../src/core/context/carry-over.js';
import { chunkIdsIn, offloadedEnd, piecesOf } from '../../../src/core/context/offloaded.js';
import { requestWindow, visibleTranscript } from '../../../src/core/context/request-window.js';
import { summarizable } from '../../../src/core/context/summaries.js';
import { turnResults } from '../../../src/core/context/turn-results.js';
import { decide } from '../../../src/core/decide/decide.js';
import { takenCallIds } from '../../../src/core/memory/memory.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import { countMessages } from '../../../src/core/state/transcript.js';
import { snapshotOf } from '../../../src/core/view/snapshot.js';
import { Shelf } from '../../support/fakes/stored-transcripts.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { contextParts } from '../../support/samples/context-parts.js';
import { expectInvariants } from '../../support/schedules/core-invariants.js';
import {
  endedCallIds,
  ScheduleRunner,
  type Step,
  schedule,
} from '../../support/schedules/core-schedules.js';

const BOUNDS = { fromBytes: 1_200, keepBytes: 500, chunkBytes: 900 };
const NUM_RUNS = Number(process.env['FC_RUNS'] ?? 50);
const TIMEOUT_MS = 60_000 + NUM_RUNS * 100;

const fromJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** Runs a step, and offloads after every third one. */
function run({ runner, m, shelf }: Running, step: Step): void {
  runner.run(step);
  if (step.pick % 3 !== 0 || m.state.closed) return;
  const offloaded = shelf.offloaded(m.state, BOUNDS);
  if (offloaded !== undefined) m.machine.offloaded(offloaded);
}

interface Running {
  readonly runner: ScheduleRunner;
  readonly m: ScheduleRunner['m'];
  readonly shelf: Shelf;
}

function begin(steps: readonly Step[]): Running {
  const runner = new ScheduleRunner(steps.length);
  return { runner, m: runner.m, shelf: new Shelf() };
}

/** Decisions that depend on the messages and not on the place that each has in the state. */
function decisions(state: ConversationState, { shelf, m }: Running): unknown {
  const { turn, transcript, transcriptBytes, forgotten } = state;
  const messages = shelf.whole(visibleTranscript(state));
  return {
    effects: decide(state),
    snapshot: snapshotOf(state),
    transcript: shelf.whole(transcript),
    ...{ transcriptBytes, forgotten },
    unsent: requestWindow(state).unsent,
    summarizable: countMessages(transcript.slice(0, summarizable(state))),
    results: turn && turnResults(state, turn.turnId),
    taken: takenCallIds(state, endedCallIds(m)),
    assembled:
      messages.length === 0
        ? undefined
        : assembleContext(contextParts(messages, { mark: markOf(state).context })),
  };
}

/** The same, and the decisions about roll-overs and payloads. */
function behaviour(state: ConversationState, running: Running): unknown {
  return {
    decisions: decisions(state, running),
    pieces: piecesOf(visibleTranscript(state)),
    chunks: chunkIdsIn(state.transcript),
    carried: carriedBytes(state),
    dropped: droppedAtRollOver(state),
    held: heldBytesOf(state),
    plan: offloadPlan(state, BOUNDS),
  };
}

describe('the state of a conversation with offloaded messages', () => {
  it('behaves the same when it comes back from JSON, after every event', {
    ...promise('G179'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    let offloads = 0;
    fc.assert(
      fc.property(schedule, (steps) => {
        const running = begin(steps);
        const { m } = running;
        let copy = fromJson(m.state);
        for (const step of steps) {
          const known = m.events.length;
          run(running, step);
          for (const event of m.events.slice(known)) copy = fromJson(apply(copy, event));
          expectInvariants(m);
          expect(copy).toEqual(m.state);
          expect(behaviour(fromJson(m.state), running)).toEqual(behaviour(m.state, running));
        }
        if (offloadedEnd(m.state.transcript) > 0) offloads += 1;
      }),
      { numRuns: NUM_RUNS },
    );
    // Enough of the conversations have offloaded messages at their end.
    expect(offloads).toBeGreaterThan(NUM_RUNS / 10);
  });

  it('decides as if no message were offloaded', {
    ...promise('G179'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(schedule, (steps) => {
        const running = begin(steps);
        const { m } = running;
        for (const step of steps) run(running, step);
        const plain = applyAll(m.events.filter(({ type }) => type !== 'transcript_offloaded'));
        if (plain === undefined) throw new Error('unreachable');
        const { lastSeq } = m.state;
        expect(decisions(m.state, running)).toEqual(decisions({ ...plain, lastSeq }, running));
      }),
      { numRuns: NUM_RUNS },
    );
  });
});
