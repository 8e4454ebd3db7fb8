/** Requests about forks and exports. The client checks ids and bounds, as it does for every other caller. */
import { z } from 'zod';
import { MAX_WHAT_IF_PAGE } from '../../protocol/limits/service-limits.js';
import { ActorSchema, IdSchema, RequestIdSchema } from './bodies.js';
import { TENANT, wholeNumber } from './queries.js';

/** `POST /v1/conversations/{id}/fork` */
export const ForkSchema = z.strictObject({
  generation: z.int().min(1),
  atSeq: z.int().min(1),
  reopen: z.array(z.string()).exactOptional(),
  id: IdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
});

/** `POST /v1/conversations/{id}/what-if` */
export const WhatIfSchema = z.strictObject({
  turnId: z.string().exactOptional(),
  generation: z.int().min(1).exactOptional(),
  agent: IdSchema.exactOptional(),
  model: z.string().exactOptional(),
  instructions: z.string().exactOptional(),
  maxSteps: z.int().min(1).exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
  actor: ActorSchema.exactOptional(),
});

/** `GET /v1/conversations/{id}/what-if` */
export const WhatIfsQuerySchema = z.strictObject({
  ...TENANT,
  cursor: z.string().min(1).max(1000).exactOptional(),
  limit: wholeNumber(1, MAX_WHAT_IF_PAGE).exactOptional(),
});

/** `GET /v1/conversations/{id}/export?format=test&from=./agents.js&exportedAs=support` */
export const ExportQuerySchema = z.strictObject({
  ...TENANT,
  /** The only format. */
  format: z.literal('test', 'must be "test"').exactOptional(),
  /** Module that the test imports the agent from. */
  from: z.string().min(1).max(500).exactOptional(),
  /** The agent's name in that module. */
  exportedAs: z
    .string()
    .max(100)
    .regex(/^[A-Za-z_$][\w$]*$/, 'must be a name of JavaScript')
    .exactOptional(),
});
