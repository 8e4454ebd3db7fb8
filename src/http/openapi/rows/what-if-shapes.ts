/** Answers about recorded turns that are played again. */
import { z } from 'zod';
import { instant, object, text, Usage, whole } from './shapes.js';

export const WhatIfBegun = object({
  whatIfId: text,
  conversationId: text,
  turnId: text,
  agent: text,
  duplicate: z.boolean(),
});

const WhatIfCall = { name: text, arguments: text.describe('JSON, long ones cut') };
const WhatIfSide = object({
  text: text.describe('long ones cut'),
  calls: z.array(object(WhatIfCall)),
  model: text.optional(),
  usage: Usage.optional(),
});

const State = z.enum(['running', 'diverged', 'ended', 'cancelled', 'failed']);

const End = {
  reason: z.enum(['answered', 'max_steps']).optional().describe('for state `ended`'),
  diverged: object({
    step: whole,
    ...WhatIfCall,
    reason: z.enum(['not_recorded', 'no_result']),
  })
    .optional()
    .describe('the call that no recorded result answers; for state `diverged`'),
  error: object({ code: text, message: text }).optional().describe('for state `failed`'),
  usage: Usage.optional().describe('of its model calls, without one that a cancel has interrupted'),
};

export const WhatIfReport = object({
  whatIfId: text,
  conversationId: text,
  turnId: text,
  generation: whole,
  agent: text,
  model: text.optional(),
  state: State,
  warning: text.optional().describe('present while no worker has taken its next task'),
  ...End,
  steps: z
    .array(
      object({
        step: whole,
        compared: z.enum(['same', 'differs', 'added']),
        recorded: WhatIfSide.optional(),
        answer: WhatIfSide,
      }),
    )
    .optional()
    .describe('absent while it runs'),
});

export const WhatIfPage = object({
  whatIfs: z.array(
    object({
      whatIfId: text,
      turnId: text,
      generation: whole,
      agent: text,
      model: text.optional(),
      begunAt: instant,
      state: State,
      ...End,
      endedAt: instant.optional().describe('absent while it runs'),
      stepCount: whole.optional().describe('finished steps; absent while it runs'),
    }),
  ),
  nextCursor: text.optional(),
});

export const WhatIfCancelled = object({
  whatIfId: text,
  status: z
    .enum(['stopping', 'over'])
    .describe('`stopping`: a worker ends it; `over`: it had ended before'),
  warning: text.optional().describe('present while no worker has taken its next task'),
  state: State.optional().describe('for status `over`'),
});
