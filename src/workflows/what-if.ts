/** Plays a recorded turn again with another prompt or model: one activity for each model call, and no tool. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { addUsage, NO_USAGE, spentIn } from '../core/state/usage.js';
import { MAX_WHAT_IF_STEPS } from '../protocol/limits/limits.js';
import { isRecord } from '../protocol/values/json.js';
import type {
  WhatIfAnswer,
  WhatIfInput,
  WhatIfOutcome,
  WhatIfResult,
  WhatIfStep,
} from '../protocol/workflow/what-if.js';
import { modelDetailsOf, turnErrorOf } from './activities/activity-losses.js';
import { activities, MODEL_CALL } from './activities/schedule.js';

export async function whatIf(input: WhatIfInput): Promise<WhatIfResult> {
  if (!isRecord(input) || input.maxSteps > MAX_WHAT_IF_STEPS)
    throw ApplicationFailure.nonRetryable('what-if cannot run: maxSteps', 'invalid_request');
  const steps: WhatIfStep[] = [];
  const earlier: WhatIfAnswer[] = [];
  let usage = NO_USAGE;
  const ended = (outcome: WhatIfOutcome): WhatIfResult => ({ ...outcome, steps, usage });
  for (let step = 1; step <= input.maxSteps; step += 1) {
    const summary = `what if: step ${step}`;
    try {
      const asked = { ...input, step, earlier };
      const made = await activities.whatIf.executeWithOptions({ ...MODEL_CALL, summary }, [asked]);
      steps.push(made.step);
      usage = addUsage(usage, made.step.answer.usage ?? NO_USAGE);
      if (made.end !== undefined) return ended(made.end);
      earlier.push(made.answer);
    } catch (error) {
      const isLost = error instanceof ActivityFailure;
      if (isLost) usage = addUsage(usage, spentIn(modelDetailsOf(error))?.usage ?? NO_USAGE);
      // The steps before it stay readable.
      if (CancellationScope.current().consideredCancelled) return ended({ state: 'cancelled' });
      if (isCancellation(error) || !isLost) throw error;
      return ended({ state: 'failed', error: turnErrorOf(error) });
    }
  }
  return ended({ state: 'ended', reason: 'max_steps' });
}
