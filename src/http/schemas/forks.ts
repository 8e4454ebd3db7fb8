/** The bodies of requests about forks. The client checks ids and bounds, as it does for every other caller. */
import { z } from 'zod';
import { IdSchema, RequestIdSchema } from './bodies.js';

/** `POST /v1/conversations/{id}/fork` */
export const ForkSchema = z.strictObject({
  generation: z.int().min(1),
  atSeq: z.int().min(1),
  reopen: z.array(z.string()).exactOptional(),
  id: IdSchema.exactOptional(),
  requestId: RequestIdSchema.exactOptional(),
});
