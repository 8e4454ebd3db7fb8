/** Reads the worklist: checks the bounds of the options, each refusal with its field. */
import { RISKS } from '../../protocol/calls/executors.js';
import { SUSPENSION_KINDS } from '../../protocol/calls/suspensions.js';
import { MAX_LIST_PAGE } from '../../protocol/limits/service-limits.js';
import type { WorklistFrame, WorklistPage } from '../../protocol/log/worklist.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { idProblem } from '../../protocol/values/ids.js';
import { wellFormed } from '../../protocol/values/well-formed.js';
import { ConversationError, invalidField } from '../api/errors.js';
import { nameOfAgent, type WorklistOptions } from '../api/types.js';
import type { ConversationReader, WorklistBy } from '../ports/reader.js';
import { timeOf } from './lists.js';

/** @throws {ConversationError} invalid_request naming the option; store_unavailable without a store */
export async function readWorklist(
  reader: ConversationReader,
  own: { readonly tenant: string; readonly actor: StampedActor },
  options: WorklistOptions,
): Promise<WorklistPage> {
  const by = worklistBy(own, options);
  if (reader.worklist === undefined) throw noStore();
  try {
    return await reader.worklist(by);
  } catch (error) {
    // Only the store can recognise its own cursors.
    if (by.cursor === undefined || !(error instanceof RangeError)) throw error;
    throw invalidField('/cursor', 'must be the nextCursor of an earlier page');
  }
}

/** The same list, and its changes. @throws {ConversationError} as `readWorklist` */
export async function watchWorklist(
  reader: ConversationReader,
  own: { readonly tenant: string; readonly actor: StampedActor },
  options: Omit<WorklistOptions, 'limit' | 'cursor'> & {
    readonly after?: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<AsyncIterable<WorklistFrame>> {
  const { after, signal } = options;
  if (reader.watchWorklist === undefined) throw noStore();
  return await reader.watchWorklist(worklistBy(own, options), { after, signal });
}

function noStore(): ConversationError {
  const text = 'The worklist needs the event log: give the client a reader';
  return new ConversationError('store_unavailable', text);
}

function worklistBy(
  own: { readonly tenant: string; readonly actor: StampedActor },
  options: WorklistOptions,
): WorklistBy {
  const { tenant = own.tenant, mine = true, tool, kind, risk, requester, limit, cursor } = options;
  const { id, roles, verified } = own.actor;
  const agent = nameOfAgent(options.agent);
  const problem = idProblem('tenant', tenant);
  if (problem !== undefined) throw invalidField('/tenant', problem);
  if (kind !== undefined && !SUSPENSION_KINDS.includes(kind))
    throw invalidField('/kind', `must be one of ${SUSPENSION_KINDS.join(', ')}`);
  if (risk !== undefined && !RISKS.includes(risk))
    throw invalidField('/risk', `must be one of ${RISKS.join(', ')}`);
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIST_PAGE))
    throw invalidField('/limit', `must be a whole number from 1 to ${MAX_LIST_PAGE}`);
  const deadlineBefore = timeOf(options.deadlineBefore);
  return {
    ...{ tenant, mine },
    // As the conversation reads an actor (`actorFrom`).
    actor: {
      id: wellFormed(id),
      verified,
      ...(roles === undefined ? {} : { roles: roles.map((role) => wellFormed(role)) }),
    },
    ...(tool === undefined ? {} : { tool }),
    ...(agent === undefined ? {} : { agent }),
    ...(kind === undefined ? {} : { kind }),
    ...(risk === undefined ? {} : { risk }),
    ...(requester === undefined ? {} : { requester }),
    ...(deadlineBefore === undefined ? {} : { deadlineBefore }),
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}
