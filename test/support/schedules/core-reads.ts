/** Inline reads of one answer, as the worker and the workflow see them. */

import { type ForeseenRead, foreseenReads } from '../../../src/core/reads/foreseen.js';
import { wholeMessages } from '../../../src/core/state/transcript.js';
import { readBoundsOf } from '../../../src/core/work/model.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { CallModelInput, CallModelResult } from '../../../src/protocol/workflow/activities.js';
import { EPOCH_MS, plannedCall } from '../builders/core-builders.js';
import type { MachineUnderTest } from './core-driver.js';

/** A call of a tool that only reads, and is inline. */
export function aRead(toolCallId: string, overrides: Partial<PlannedCall> = {}): PlannedCall {
  return plannedCall(toolCallId, {
    name: 'look',
    effects: 'none',
    inline: true,
    ...overrides,
  });
}

/** The input of the model call that is due, with the fields that matter for reads. */
export function modelInputOf(m: MachineUnderTest): CallModelInput {
  const { state } = m;
  const { turn, tenant, conversationId, agent, transcript, forgotten = 0 } = state;
  if (turn === undefined) throw new Error('no turn is running');
  const { turnId, step, requester } = turn;
  return {
    ...{ tenant, conversationId, agent, turnId, step, requester },
    transcript: { epoch: forgotten, base: 0, append: wholeMessages(transcript) },
    ...readBoundsOf(state),
  };
}

/** The reads that the worker would run for the answer. */
export function foreseen(m: MachineUnderTest, outcome: CallModelResult): readonly ForeseenRead[] {
  return foreseenFor(modelInputOf(m), outcome);
}

/** The same, for a model call with this input. */
export function foreseenFor(
  input: CallModelInput,
  outcome: CallModelResult,
): readonly ForeseenRead[] {
  return foreseenReads(input, { outcome, messages: input.transcript.append, nowMs: EPOCH_MS });
}

/** The answer with a result for each of its calls at these positions, as the worker returns it. */
export function withResults(
  outcome: CallModelResult,
  reads: readonly { readonly index: number; readonly toolCallId: string }[],
): CallModelResult {
  const calls = outcome.calls.map((call, index) => {
    const read = reads.find((entry) => entry.index === index);
    if (read === undefined) return call;
    const { toolCallId } = read;
    const envelope = { ok: true as const, result: `read ${toolCallId}` };
    return { ...call, read: { toolCallId, ended: { envelope, executionMs: 1 } } };
  });
  return { ...outcome, calls };
}
