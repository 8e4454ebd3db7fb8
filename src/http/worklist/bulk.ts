/** Answers many calls at once. Each item is judged alone, as the route of its call judges it. */
import type { Request } from 'express';
import { invalidField } from '../../client/api/errors.js';
import { fromTemporal } from '../../client/temporal/errors.js';
import {
  type ConversationKey,
  conversationKey,
  requestIdProblem,
} from '../../protocol/values/ids.js';
import { actorOf } from '../identity/callers.js';
import type { AppDeps } from '../request/deps.js';
import { parseBody } from '../request/parse.js';
import { invalidVerdict, problemOf } from '../request/problem.js';
import { tenantOf } from '../request/tenants.js';
import { type GivenAnswer, resolveAt } from '../routes/tool-calls.js';
import { ResolveManySchema } from '../schemas/bodies.js';

interface Target extends ConversationKey {
  readonly toolCallId: string;
}

interface Item {
  readonly target: Target;
  readonly answer: GivenAnswer;
}

/** The body of the answer of the call's own route, with its status. */
export interface ItemResult {
  readonly conversationId: string;
  readonly toolCallId: string;
  readonly httpStatus: number;
}

/**
 * Results in the order of the items. Items of one call are judged in their order, all others at the same time. A failure
 * of one item is its result; the others are judged nevertheless.
 * @throws {ConversationError} invalid_request for a body that breaks a rule: then none is sent.
 */
export async function resolveMany(
  deps: AppDeps,
  request: Request,
  receivedAt: string,
): Promise<readonly ItemResult[]> {
  const { items, actor: claimed } = parseBody(ResolveManySchema, request);
  const tenant = tenantOf(request);
  const actor = actorOf(request, claimed);
  const idOf = requestIds(request, items.length);
  const given = items.map(({ conversationId, toolCallId, requestId, ...answer }, index) => {
    const id = requestId ?? idOf(index);
    return {
      target: { tenant, conversationId, toolCallId },
      answer: { ...answer, ...(id === undefined ? {} : { requestId: id }), actor, receivedAt },
    };
  });
  const results: ItemResult[] = [];
  // The client bounds how many are sent at once, and each is durable within three seconds.
  const judged = byCall(given).map(async (items) => {
    for (const [index, item] of items) results[index] = await resultOf(deps, item);
  });
  await Promise.all(judged);
  return results;
}

/** Ids of items that name none: the key of the request with the place of the item. */
function requestIds(request: Request, items: number): (index: number) => string | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined) return () => undefined;
  const idOf = (index: number): string => `${key}:${index}`;
  const problem = requestIdProblem('Idempotency-Key', idOf(items - 1));
  if (problem !== undefined) throw invalidField('Idempotency-Key', problem);
  return idOf;
}

/** The items of each call, with their places. */
function byCall(items: readonly Item[]): readonly (readonly (readonly [number, Item])[])[] {
  const calls = new Map<string, (readonly [number, Item])[]>();
  for (const [index, item] of items.entries()) {
    const name = `${conversationKey(item.target)}/${item.target.toolCallId}`;
    calls.set(name, [...(calls.get(name) ?? []), [index, item]]);
  }
  return [...calls.values()];
}

async function resultOf(deps: AppDeps, { target, answer }: Item): Promise<ItemResult> {
  const { conversationId, toolCallId } = target;
  const of = { conversationId, toolCallId };
  try {
    const { httpStatus, shown } = await resolveAt(deps, target, answer);
    return { ...shown, ...of, httpStatus };
  } catch (thrown) {
    const error = fromTemporal(thrown);
    if (error.httpStatus >= 500)
      deps.log?.error({ err: error, cause: error.cause, ...of }, 'an answer failed');
    const verdict = error.code === 'invalid_request' ? invalidVerdict(error) : {};
    return { ...problemOf(error), ...verdict, ...of, httpStatus: error.httpStatus };
  }
}
