/** Doors about single calls, besides their resolution. Same rules as in `doors.ts`; updates only, for their asker must know. */
import { ApplicationFailure } from '@temporalio/common';
import { defineUpdate, setHandler } from '@temporalio/workflow';
import { extendToolCall, refuseExtension } from '../core/extensions.js';
import { type InboxRefusal, judgeInbox, takeInboxEvent } from '../core/inbox.js';
import type { Refusal } from '../core/judge.js';
import { refuseRevocation, revokeRule } from '../core/rules.js';
import { UPDATES } from '../protocol/messaging.js';
import type { DoorsOptions } from './doors.js';

/** Verdicts other than acceptance travel as failures, so that a refused update leaves no history. */
function refuse(verdict: { readonly verdict: string }): never {
  throw ApplicationFailure.create({
    type: 'verdict',
    message: verdict.verdict,
    nonRetryable: true,
    details: [verdict],
  });
}

export function openRuleDoor({ machine, wake, countUpdate }: DoorsOptions): void {
  const refuseRule = ({ code, message, problems }: Refusal): never => {
    const details = [{ message, ...(problems === undefined ? {} : { problems }) }];
    throw ApplicationFailure.create({ type: code, message, nonRetryable: true, details });
  };
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.revokeRule),
    (input) => {
      countUpdate();
      const outcome = revokeRule(machine, input);
      if ('refusal' in outcome) return refuseRule(outcome.refusal);
      wake();
      return outcome.reply;
    },
    {
      description: 'Forget a remembered decision: {ruleId, actor}',
      validator: (input) => {
        const refusal = refuseRevocation(machine.state, input);
        if (refusal !== undefined) refuseRule(refusal);
      },
    },
  );
}

export function openCallDoors({ machine, wake, countUpdate }: DoorsOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.extendToolCall),
    (input) => {
      countUpdate();
      const verdict = extendToolCall(machine, input);
      if (verdict.verdict !== 'accepted') refuse(verdict);
      wake();
      return verdict;
    },
    {
      description:
        'Move the deadline of a waiting call: {toolCallId, until | by, actor, requestId}',
      validator: (input) => {
        const refusal = refuseExtension(machine, input);
        if (refusal !== undefined) refuse(refusal);
      },
    },
  );
}

function refuseEvent({ code, message, problems, reply }: InboxRefusal): never {
  throw ApplicationFailure.create({
    type: code,
    message,
    nonRetryable: true,
    details: [reply ?? { message, ...(problems === undefined ? {} : { problems }) }],
  });
}

export function openInboxDoor({ machine, wake, countUpdate }: DoorsOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.inboxEvent),
    (input) => {
      countUpdate();
      const outcome = takeInboxEvent(machine, input);
      if (!outcome.accepted) refuseEvent(outcome.refusal);
      wake();
      return outcome.reply;
    },
    {
      description: 'Input of another system: {eventId, kind, payload, actor}',
      validator: (input) => {
        const refusal = judgeInbox(machine.state, input);
        if (refusal !== undefined) refuseEvent(refusal);
      },
    },
  );
}
