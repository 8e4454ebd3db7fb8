/** Requests about the inside of a conversation. */
import { z } from 'zod';
import { TENANT, wholeNumber } from './queries.js';

/** A place of the log. */
const MAX_SEQ = 999_999_999;

/** `GET /v1/conversations/{id}/model-calls/{seq}` */
export const ModelCallPathSchema = z.object({ seq: wholeNumber(1, MAX_SEQ) });

/** `?generation=2`: of the log in which the seq is. Absent: the newest. */
export const ModelCallQuerySchema = z.strictObject({
  ...TENANT,
  generation: wholeNumber(1, MAX_SEQ).exactOptional(),
});
