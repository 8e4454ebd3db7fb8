/** Operations that look into a conversation: the requests of its model calls, and its run in Temporal. */
import { z } from 'zod';
import { ModelCallQuerySchema } from '../../schemas/inspection.js';
import { ConversationQuerySchema } from '../../schemas/queries.js';
import type { Operation } from './operation.js';

const ModelCall = z.looseObject({
  source: z
    .enum(['audit', 'derived', 'unavailable'])
    .describe(
      "`audit`: as it was sent; `derived`: assembled from the log and the agent's definition",
    ),
  generation: z.int(),
  seq: z.int().describe('place of the event `model_call`'),
  turnId: z.string(),
  step: z.int(),
  attempt: z.int(),
  agent: z.string(),
  model: z.string(),
  request: z.unknown().optional(),
  unknown: z.array(z.string()).describe('parts of the request that are not known, in words'),
  definition: z
    .unknown()
    .optional()
    .describe("the agent's definition, where plugins or MCP servers changed it for the call"),
  reason: z.string().optional().describe('why the request is not known; for `unavailable`'),
  changes: z.unknown().optional().describe('differences to the request of the model call before'),
});

const Run = z.looseObject({
  workflowId: z.string(),
  namespace: z.string(),
  runId: z.string().optional(),
  status: z.string().describe('`gone`: Temporal has no run any more'),
  historyEvents: z.int().optional(),
  historyBytes: z.int().optional(),
  startedAt: z.string().optional().describe('ISO 8601'),
  closedAt: z.string().optional().describe('ISO 8601'),
  url: z.string().optional().describe('the run in a Temporal UI, where the API knows one'),
});

export const INSPECTION_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/v1/conversations/:id/model-calls/:seq', id: 'readModelCall' },
    right: 'read',
    summary: 'The request that a model call got; for no bound caller',
    query: ModelCallQuerySchema,
    answers: { 200: ModelCall },
  },
  {
    ...{ method: 'get', path: '/v1/conversations/:id/run', id: 'describeRun' },
    right: 'read',
    summary: "The run of the conversation's workflow in Temporal; for no bound caller",
    query: ConversationQuerySchema,
    answers: { 200: Run },
  },
];
