/** Status and code of each route, by what its caller may name. */
import { expect } from 'vitest';
import type { Operation } from '../../../src/http/openapi/rows/operations.js';

const ONE = '/v1/conversations/:id';

/** Answers to the valid request of a caller that may do all, where the fakes of these tests end: `[status, code]`. */
const REFUSED_HERE: Readonly<Record<string, readonly [number, string]>> = {
  // The store of these tests deletes nothing.
  deleteConversation: [503, 'store_unavailable'],
  // `c-1` has no finished step, no call of a model and no what-if.
  forkConversation: [422, 'invalid_request'],
  startWhatIf: [422, 'invalid_request'],
  getWhatIf: [404, 'unknown_what_if'],
  cancelWhatIf: [404, 'unknown_what_if'],
  readModelCall: [404, 'not_found'],
  // The space shows no call, and no delivery has ended.
  resolveSpaceCall: [404, 'unknown'],
  resendDelivery: [404, 'unknown_webhook'],
  // The call is a question, which nothing runs.
  reportProgress: [422, 'invalid'],
};

/** Status and code of a caller that may do all, or nothing but what the route needs. */
export function granted({ id, answers }: Operation): readonly [unknown, unknown] {
  const done = Object.keys(answers)
    .map(Number)
    .filter((status) => status < 300);
  return REFUSED_HERE[id] ?? [expect.toBeOneOf(done), 'ok'];
}

/** Routes with the conversation of the caller's own tenant, which has not begun. */
const OF_NEW_CONVERSATION = ['uploadFile', 'mintToken'];
const OF_TURNS = ['getTurn', 'watchTurn'];
/** Operations that answer with the verdict of the conversation, by the audience of the call. */
export const VERDICTS = ['submitStep', 'resolveToolCall', 'extendToolCall', 'claimToolCall'];

/** Status and code where the caller's own tenant, in which nothing is, has to count. */
export function ofOtherTenant(operation: Operation): readonly [unknown, unknown] {
  const { id, path } = operation;
  if (OF_NEW_CONVERSATION.includes(id)) return granted(operation);
  if (id === 'readBlob') return [404, 'unknown_blob'];
  if (VERDICTS.includes(id) || id === 'reportProgress') return [404, 'unknown'];
  if (path.startsWith(ONE)) return [404, 'unknown_conversation'];
  if (path.startsWith('/v1/spaces/:')) return [404, 'unknown_space'];
  if (path.startsWith('/v1/webhooks/:')) return [404, 'unknown_webhook'];
  return OF_TURNS.includes(id) ? [404, 'unknown_turn'] : granted(operation);
}

/** Status and code where the query names a tenant that is not the caller's. */
export function ofNamedTenant({ path, query }: Operation): readonly [unknown, unknown] {
  if (path.startsWith(ONE)) return [404, 'unknown_conversation'];
  return query !== undefined && 'tenant' in query.shape
    ? [403, 'forbidden']
    : [422, 'invalid_request'];
}

/** Status and code of a caller without a tenant. */
export function ofNoTenant(operation: Operation): readonly [unknown, unknown] {
  const named = ofNamedTenant(operation);
  return named[0] === 422 ? ofOtherTenant(operation) : named;
}

/** Status and code of a caller that is bound to `c-2`. */
export function ofBound(operation: Operation): readonly [unknown, unknown] {
  const { id, path, bound } = operation;
  if (path.startsWith(ONE)) return [404, 'unknown_conversation'];
  if (bound !== true) return [403, 'forbidden'];
  if (id === 'createConversation') return [422, 'invalid_request'];
  return OF_TURNS.includes(id) ? [404, 'unknown_turn'] : granted(operation);
}
