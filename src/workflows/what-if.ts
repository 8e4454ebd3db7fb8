/**
 * Plays a recorded turn again with another prompt or model, one model call after the other. Runs no tool, and touches
 * no conversation. Kills and deploys lose no finished step.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import { addUsage, NO_USAGE, spentIn } from '../core/state/usage.js';
import { idProblem } from '../protocol/values/ids.js';
import { isRecord } from '../protocol/values/json.js';
import {
  MAX_WHAT_IF_STEPS,
  type WhatIfAnswer,
  type WhatIfInput,
  type WhatIfOutcome,
  type WhatIfResult,
  type WhatIfStep,
} from '../protocol/workflow/what-if.js';
import { modelDetailsOf, turnErrorOf } from './activities/activity-losses.js';
import { activities, MODEL_CALL, summaryOf } from './activities/schedule.js';

export async function whatIf(input: WhatIfInput): Promise<WhatIfResult> {
  const problem = inputProblem(input);
  if (problem !== undefined)
    throw ApplicationFailure.nonRetryable(`what-if cannot run: ${problem}`, 'invalid_request');
  const steps: WhatIfStep[] = [];
  const earlier: WhatIfAnswer[] = [];
  let usage = NO_USAGE;
  const ended = (outcome: WhatIfOutcome): WhatIfResult => ({ ...outcome, steps, usage });
  for (let step = 1; step <= input.maxSteps; step += 1) {
    const summary = summaryOf(`what if: step ${step}`);
    try {
      const asked = { ...input, step, earlier };
      const made = await activities.whatIf.executeWithOptions({ ...MODEL_CALL, summary }, [asked]);
      steps.push(made.step);
      usage = addUsage(usage, made.step.answer.usage ?? NO_USAGE);
      if (made.end !== undefined) return ended(made.end);
      earlier.push(made.answer);
    } catch (error) {
      // The steps before it stay readable.
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      usage = addUsage(usage, spentIn(modelDetailsOf(error))?.usage ?? NO_USAGE);
      const { code, message } = turnErrorOf(error);
      return ended({ state: 'failed', error: { code, message } });
    }
  }
  return ended({ state: 'ended', reason: 'max_steps' });
}

/** Why the argument is none of the engine's clients. */
function inputProblem(input: unknown): string | undefined {
  if (!isRecord(input)) return 'the argument must be an object';
  const { maxSteps } = input;
  if (!Number.isInteger(maxSteps) || Number(maxSteps) < 1 || Number(maxSteps) > MAX_WHAT_IF_STEPS)
    return `maxSteps must be a whole number from 1 to ${MAX_WHAT_IF_STEPS}`;
  const named = ['tenant', 'conversationId', 'agent'].map((field) =>
    idProblem(field, input[field]),
  );
  return named.find((problem) => problem !== undefined);
}
