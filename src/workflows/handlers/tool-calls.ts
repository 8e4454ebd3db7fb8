/**
 * Handlers of single calls, rules, batches and the inbox. The rules of `handlers.ts` apply; only updates, because the
 * caller needs the verdict.
 */
import { defineUpdate, setHandler } from '@temporalio/workflow';
import { judgeInbox } from '../../core/judge/inbox.js';
import { refuseRevocation } from '../../core/judge/rules.js';
import { refuseBatch, resolveBatch } from '../../core/machine/batches.js';
import { extendToolCall, refuseExtension } from '../../core/machine/extensions.js';
import { takeInboxEvent } from '../../core/machine/inbox.js';
import { revokeRule } from '../../core/machine/rules.js';
import { UPDATES } from '../../protocol/workflow/messaging.js';
import { type HandlerOptions, refuse, throwRefusal } from './handler.js';

export function registerRules({ machine, wake, countUpdate }: HandlerOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.revokeRule),
    (input) => {
      countUpdate();
      const outcome = revokeRule(machine, input);
      if ('refusal' in outcome) return throwRefusal(outcome.refusal);
      wake();
      return outcome.reply;
    },
    {
      description: 'Forget a remembered decision: {ruleId, actor}',
      validator: (input) => {
        const refusal = refuseRevocation(machine.state, input);
        if (refusal !== undefined) throwRefusal(refusal);
      },
    },
  );
}

export function registerCalls({ machine, wake, countUpdate }: HandlerOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.extendToolCall),
    (input) => {
      countUpdate();
      const verdict = extendToolCall(machine, input);
      if (verdict.verdict !== 'accepted') refuse('verdict', verdict.verdict, verdict);
      wake();
      return verdict;
    },
    {
      description:
        'Move the deadline of a waiting call: {toolCallId, until | by, actor, requestId}',
      validator: (input) => {
        const refusal = refuseExtension(machine, input);
        if (refusal !== undefined) refuse('verdict', refusal.verdict, refusal);
      },
    },
  );
}

export function registerBatches({ machine, wake, countUpdate }: HandlerOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.resolveBatch),
    (input) => {
      countUpdate();
      const verdict = resolveBatch(machine, input);
      if (verdict.verdict !== 'accepted') refuse('verdict', verdict.verdict, verdict);
      wake();
      return verdict;
    },
    {
      description:
        'Answer all open client calls of a step: {stepId, results: [{toolCallId, resultJson | errorMessage}], actor, requestId}',
      validator: (input) => {
        const refusal = refuseBatch(machine, input);
        if (refusal !== undefined) refuse('verdict', refusal.verdict, refusal);
      },
    },
  );
}

export function registerInbox({ machine, wake, countUpdate }: HandlerOptions): void {
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.inboxEvent),
    (input) => {
      countUpdate();
      const outcome = takeInboxEvent(machine, input);
      if (!outcome.accepted) throwRefusal(outcome.refusal);
      wake();
      return outcome.reply;
    },
    {
      description: 'Input of another system: {eventId, kind, payload, actor}',
      validator: (input) => {
        const refusal = judgeInbox(machine.state, input);
        if (refusal !== undefined) throwRefusal(refusal);
      },
    },
  );
}
