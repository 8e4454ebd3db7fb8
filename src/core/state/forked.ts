/** The calls that a fork takes over from its origin: they wait anew, without an answer. Pure. */
import type { ToolCallId } from '../../protocol/values/ids.js';
import type { CallState, DetachedCall, EndedCall, RunningCall } from './calls.js';

type Calls = Readonly<Record<ToolCallId, CallState>>;

interface ForkedCalls {
  readonly reopened: readonly ToolCallId[];
  /** Calls of the step in progress, which goes on. Empty where its turn has ended. */
  readonly ofStep: readonly ToolCallId[];
  readonly at: string;
}

/**
 * The calls that wait anew, and those of their step that have their results already: the model reads all of them
 * together. No late answer to an expired one is taken.
 */
export function callsOfFork(calls: Calls, { reopened, ofStep, at }: ForkedCalls): Calls {
  const kept = Object.entries(calls).flatMap(([id, call]): readonly [string, CallState][] => {
    if (reopened.includes(id)) return [[id, waitsAnew(call, at)]];
    if (call.result === undefined) return [];
    if (call.background === undefined) return [[id, call]];
    return ofStep.includes(id) ? [[id, withoutLate(call)]] : [];
  });
  return Object.fromEntries(kept);
}

function withoutLate(call: Extract<CallState, { readonly background: 'late' }>): EndedCall {
  const { background: _late, closedWait: _wait, answer: _taken, ...ended } = call;
  return ended;
}

/**
 * The call as it was before it waited: with its plan and the payload that its preflight has made. All of its clocks
 * begin anew, and an approval that the origin had is asked for again.
 */
function waitsAnew(call: CallState, at: string): RunningCall | DetachedCall {
  const { plan, turnId, step, since, agent, requestedBy, prepared, revised, offerDigest } = call;
  const record = {
    ...{ plan, turnId, step, since },
    ...(agent === undefined ? {} : { agent }),
    ...(call.askedAt === undefined ? {} : { askedAt: at }),
    ...(requestedBy === undefined ? {} : { requestedBy }),
    ...(prepared === undefined ? {} : { prepared }),
    ...(revised === undefined ? {} : { revised }),
    ...(offerDigest === undefined ? {} : { offerDigest }),
  };
  return call.background === 'detached'
    ? { ...record, background: 'detached', ack: call.ack, status: 'detached' }
    : { ...record, status: 'running' };
}
