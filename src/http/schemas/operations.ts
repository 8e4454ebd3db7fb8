/** Answers of the routes of operators. */
import { z } from 'zod';

const text = z.string();
const instant = text.describe('ISO 8601');
const whole = z.int();
const command = text.describe('the next command, for a shell');

const unavailable = z.looseObject({ status: z.literal('unavailable'), reason: text });

function part(shape: z.core.$ZodLooseShape) {
  return z.union([z.looseObject({ status: z.literal('known'), ...shape }), unavailable]);
}

const Worker = z.looseObject({
  identity: text,
  state: z.enum(['up', 'silent', 'gone', 'unknown']),
  polls: z.array(z.enum(['workflow', 'activity'])),
  lastPollAt: instant.optional(),
  deployment: text.optional(),
  buildId: text.optional(),
  agents: z.array(text).optional(),
});

const Pass = z.looseObject({
  ...{ at: instant, tookMs: whole, checked: whole, asked: whole, found: whole },
  ...{ gone: whole, endedSilently: whole, failed: whole },
});

const DeadLetter = z.looseObject({
  webhookId: text,
  deliveryId: text,
  type: text,
  conversationId: text.optional(),
  at: instant,
  attempts: whole,
  lastStatus: whole.optional(),
  lastError: text.optional(),
  nextCommand: command,
});

const Attention = z.looseObject({
  conversationId: text,
  reason: z.enum(['failing', 'slow', 'unknown_outcome', 'overdue', 'not_served']),
  since: instant,
  text,
  nextCommand: command,
});

export const OperationsSeen = z.looseObject({
  at: instant,
  tenant: text,
  workers: part({
    taskQueue: text,
    workers: z.array(Worker),
    more: z.boolean(),
    incomplete: text.optional(),
    nextCommand: command.optional(),
  }),
  sweep: part({
    leader: text.optional(),
    lastPass: Pass.optional(),
    nextCommand: command.optional(),
  }),
  log: part({
    conversations: whole,
    typicalMs: z.number().optional(),
    worstMs: z.number().optional(),
  }),
  webhooks: part({ endpoints: whole, deadLetters: z.array(DeadLetter), more: z.boolean() }),
  waits: part({ conversations: whole, calls: whole, more: z.boolean() }),
  troubles: part({
    conversations: z.array(Attention),
    more: z.boolean(),
    incomplete: text.optional(),
  }),
  killsWorkers: z.boolean(),
});

export const WorkerKilled = z.looseObject({ killedPid: whole });
