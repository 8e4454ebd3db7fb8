/**
 * The codec endpoint: Temporal's UI and command line send payloads here in order to read (or write) compressed ones.
 * The endpoint sees only the payloads that a request carries. Paths and bodies are those of Temporal's remote codec
 * protocol.
 */
import { type Request, Router } from 'express';
import { z } from 'zod';
import { invalidField } from '../../../client/api/errors.js';
import { type JsonPayload, throughCodecs } from '../../../client/payloads/codec-json.js';
import {
  MAX_CODEC_BODY_BYTES,
  MAX_CODEC_METADATA,
  MAX_CODEC_PAYLOADS,
} from '../../../protocol/limits/service-limits.js';
import { isRecord } from '../../../protocol/values/json.js';
import type { CodecEndpoint } from '../../request/deps.js';
import { jsonBody } from '../../request/middleware.js';
import { parseBody } from '../../request/parse.js';
import { addUnguarded, requireAccess } from '../../request/router.js';

const base64 = z.union([z.base64(), z.base64url()], 'must be base64');
const BodySchema = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), base64).nullish(), data: base64.nullish() }),
  ),
});

/** To be mounted at `/codec`, which is then the endpoint to configure in the UI and the command line. */
export function codecRouter({ codecs, open = false }: CodecEndpoint): Router {
  const router = Router();
  if (!open)
    router.use((request, _response, next) => {
      if (request.method !== 'OPTIONS') requireAccess(request, { path: '/codec', right: 'codec' });
      next();
    });
  router.use(jsonBody(MAX_CODEC_BODY_BYTES));
  for (const direction of ['decode', 'encode'] as const)
    addUnguarded(router, `/${direction}`, {
      post: async (request, response) => {
        const payloads = payloadsOf(request);
        response.json({ payloads: await throughCodecs(codecs, direction, payloads) });
      },
    });
  return router;
}

function payloadsOf(request: Request): readonly JsonPayload[] {
  checkCounts(request.body);
  return parseBody(BodySchema, request).payloads;
}

/** Counts before the schema parses each item, which takes seconds for millions. */
function checkCounts(body: unknown): void {
  const payloads: unknown = isRecord(body) ? body['payloads'] : undefined;
  if (!Array.isArray(payloads)) return;
  if (payloads.length > MAX_CODEC_PAYLOADS)
    throw invalidField('/payloads', `must have at most ${MAX_CODEC_PAYLOADS} items`);
  const crowded = payloads.findIndex(
    (payload) => isRecord(payload) && entriesIn(payload['metadata']) > MAX_CODEC_METADATA,
  );
  if (crowded !== -1)
    throw invalidField(
      `/payloads/${crowded}/metadata`,
      `must have at most ${MAX_CODEC_METADATA} entries`,
    );
}

function entriesIn(metadata: unknown): number {
  return isRecord(metadata) ? Object.keys(metadata).length : 0;
}
