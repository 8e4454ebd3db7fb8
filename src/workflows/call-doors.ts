/** Doors about single calls, besides their resolution. Same rules as in `doors.ts`; updates only, for their asker must know. */
import { ApplicationFailure } from '@temporalio/common';
import { defineUpdate, setHandler } from '@temporalio/workflow';
import { extendToolCall, refuseExtension } from '../core/extensions.js';
import { type InboxRefusal, judgeInbox, takeInboxEvent } from '../core/inbox.js';
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
