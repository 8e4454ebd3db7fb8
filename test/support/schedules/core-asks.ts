/** Questions that the code of tools asks, for tests of the core. */

import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { Question } from '../../../src/protocol/calls/questions.js';
import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import type { RunToolResult } from '../../../src/protocol/workflow/activities.js';
import { toolFinished } from '../builders/call-ends.js';
import { modelCalls, plannedCall } from '../builders/core-builders.js';
import { aMachineWith, type MachineUnderTest } from './core-driver.js';

/** Takes numbers; the workflow alone judges the answer. */
export const NUMBER: Question = { form: { type: 'number' } };
/** Has a pattern, so that a worker checks the answer, too. */
export const CODE: Question = { form: { type: 'string', pattern: '^[A-Z]{3}$' } };

/** The tool run in progress asks a question. */
export function asks(m: MachineUnderTest, toolCallId: string, question: unknown = NUMBER): void {
  toolFinished(m.machine, toolCallId, { ask: question as Question, executionMs: 5 });
}

/** The tool of a call `c` has asked, and waits for the answer. */
export function asked(
  question: unknown = NUMBER,
  over: Partial<PlannedCall> = {},
): MachineUnderTest {
  const m = aMachineWith(modelCalls([plannedCall('c', over)]));
  asks(m, 'c', question);
  return m;
}

/** The digest of a pending question, as an answer to the question names it. */
export function digestOf(suspension: Pick<Suspension, 'argsDigest'> | undefined): {
  argsDigest?: string;
} {
  const { argsDigest } = suspension ?? {};
  return argsDigest === undefined ? {} : { argsDigest };
}

/** An end of a run, chosen by a number: mostly a result. */
export function endOfRun(variant: number): RunToolResult {
  const usual = { envelope: { ok: true, result: variant }, executionMs: 5 } as const;
  const ends: readonly RunToolResult[] = [
    { ask: NUMBER, executionMs: 1 },
    {
      ask: { ...NUMBER, state: { variant }, reason: 'how many?', onDecline: 'enter' },
      executionMs: 1,
    },
    {
      ask: { ...NUMBER, timeoutMs: 60_000, audience: { users: ['user-1', 'ben'] } },
      executionMs: 1,
    },
    { ask: { form: { $ref: '#/nowhere' } }, executionMs: 1 },
    { refused: [{ path: '', message: 'no' }], executionMs: 1 },
    { ask: { ...NUMBER, form: { type: 'number', format: 'x' }, byCode: true }, executionMs: 1 },
  ];
  return variant % 3 === 0 ? (ends[Math.floor(variant / 3) % (ends.length + 2)] ?? usual) : usual;
}
