/** The calls that a fork takes over from its origin: they wait anew, without an answer. Pure. */
import type { ToolCallId } from '../../protocol/values/ids.js';
import type { CallState, DetachedCall, RunningCall } from './calls.js';

type Calls = Readonly<Record<ToolCallId, CallState>>;

/** The calls that wait anew, and those of their step that have their results already. */
export function callsOfFork(
  calls: Calls,
  { reopened, at }: { readonly reopened: readonly ToolCallId[]; readonly at: string },
): Calls {
  const kept = Object.entries(calls).flatMap(([id, call]): readonly [string, CallState][] => {
    if (reopened.includes(id)) return [[id, waitsAnew(call, at)]];
    return call.result === undefined || call.background !== undefined ? [] : [[id, call]];
  });
  return Object.fromEntries(kept);
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
