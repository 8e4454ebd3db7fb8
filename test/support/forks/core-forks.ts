/** Forks of machines under test. */
import { apply } from '../../../src/core/apply/apply.js';
import { isCut } from '../../../src/core/fork/cuts.js';
import { forkOf } from '../../../src/core/fork/fork.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { conversationStarted, VirtualClock } from '../builders/core-builders.js';
import { MachineUnderTest } from '../schedules/core-driver.js';

/** The state of a log after a seq. */
export function stateAt(events: readonly CanonicalEvent[], seq: number): ConversationState {
  let state: ConversationState | undefined;
  for (const event of events) if (event.seq <= seq) state = apply(state, event);
  if (state === undefined) throw new Error('the log has no such event');
  return state;
}

/** The seqs at which a fork is possible. */
export function cutsOf(events: readonly CanonicalEvent[]): readonly number[] {
  let state: ConversationState | undefined;
  return events.flatMap((event) => {
    state = apply(state, event);
    return isCut(state, event) ? [event.seq] : [];
  });
}

/** Acts as the run of a fork: its log begins with the events of the origin. */
export function forkAt(
  { events, clock }: MachineUnderTest,
  seq: number,
  {
    reopen = [],
    afterMs = 0,
  }: { readonly reopen?: readonly string[]; readonly afterMs?: number } = {},
): MachineUnderTest {
  const cut = stateAt(events, seq);
  const own = new VirtualClock();
  own.advance(clock.now() - own.now() + afterMs);
  const origin = {
    ...{ conversationId: cut.conversationId, generation: 1, seq },
    ...(reopen.length === 0 ? {} : { reopenedCalls: reopen }),
  };
  const started = {
    ...conversationStarted(cut.settings),
    ...{ conversationId: 'fork', agent: cut.agent, chain: 'chain0000009', origin },
  };
  const { ends, started: event } = forkOf(cut, started, own.iso());
  const fork = new MachineUnderTest(
    [...events.filter((entry) => entry.seq <= seq), ...ends, event],
    own,
  );
  fork.machine.record([]);
  return fork;
}
