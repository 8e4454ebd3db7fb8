/** Finds the state from which a conversation can be forked, or the nearest places where it can be. Pure. */

import { type ForkCut, type ForkPoint, NOT_REOPENED } from '../../protocol/forks/forks.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { apply } from '../apply/apply.js';
import type { ConversationState } from '../state/state.js';
import { isCut } from './cuts.js';
import { callsLeft, notReopened } from './fork.js';

export type CutFound =
  | { readonly state: ConversationState }
  | {
      /** The nearest seqs at which a step or a turn is finished; absent where there is none on that side. */
      readonly before?: number;
      readonly after?: number;
      readonly lastSeq: number;
    };

/** Folds a log, from its first event on, up to a seq; reads on only as far as the next place to fork at. */
export async function cutAt(events: AsyncIterable<CanonicalEvent>, seq: number): Promise<CutFound> {
  let state: ConversationState | undefined;
  let before: number | undefined;
  let lastSeq = 0;
  for await (const event of events) {
    if (event.type === 'log_rewritten') continue;
    state = apply(state, event);
    lastSeq = event.seq;
    const isHere = isCut(state, event);
    if (event.seq === seq && isHere) return { state };
    if (event.seq < seq && isHere) before = event.seq;
    if (event.seq > seq && isHere)
      return { ...(before === undefined ? {} : { before }), after: event.seq, lastSeq };
  }
  return { ...(before === undefined ? {} : { before }), lastSeq };
}

/** Undefined when the log is empty. */
export async function forkPointOf(
  events: AsyncIterable<CanonicalEvent>,
  { atSeq, reopen }: ForkCut,
): Promise<ForkPoint | undefined> {
  const cut = await cutAt(events, atSeq);
  if ('state' in cut) {
    const { state } = cut;
    const problems = reopenProblems(state, reopen);
    if (problems.length > 0) return { problems };
    const left = callsLeft(state, reopen).map(({ plan }) => plan.toolCallId);
    return { agent: state.agent, notCarried: left };
  }
  const { before, after, lastSeq } = cut;
  if (lastSeq === 0) return undefined;
  const nearest = [
    ...(before === undefined ? [] : [`${before} before it`]),
    ...(after === undefined ? [] : [`${after} behind it`]),
  ];
  const where = nearest.length === 0 ? 'there is none yet' : `nearest: ${nearest.join(', ')}`;
  const message = `must be the seq of an event that ends a step or a turn (${where}; the log ends at ${lastSeq})`;
  return { problems: [{ path: '/atSeq', message }] };
}

export function reopenProblems(
  state: ConversationState,
  reopen: readonly string[],
): readonly FieldProblem[] {
  return reopen.flatMap((toolCallId, index): FieldProblem[] => {
    const reason = notReopened(state, toolCallId);
    if (reason === undefined) return [];
    return [{ path: `/reopen/${index}`, message: `"${toolCallId}" ${NOT_REOPENED[reason]}` }];
  });
}
