/** Lists conversations: checks the bounds of the options, each refusal with its field. */

import { SUSPENSION_KINDS } from '../../protocol/calls/suspensions.js';
import { STATUS_FILTERS } from '../../protocol/conversation/statuses.js';
import { MAX_LIST_PAGE } from '../../protocol/limits/service-limits.js';
import { type ConversationsFrame, parsePlace } from '../../protocol/log/conversations-stream.js';
import type { Channel } from '../../protocol/values/actors.js';
import { idProblem } from '../../protocol/values/ids.js';
import { stampActor } from '../api/checks.js';
import { ConversationError, invalidField } from '../api/errors.js';
import { type ListOptions, nameOfAgent, type WatchListOptions } from '../api/types.js';
import type { ConversationPage, ConversationReader, ListedBy } from '../ports/reader.js';

/** @throws {ConversationError} invalid_request naming the option */
export async function listConversations(
  reader: ConversationReader,
  own: { readonly tenant: string; readonly channel: Channel },
  options: ListOptions,
): Promise<ConversationPage> {
  const listed = listedBy(own, options);
  try {
    return await reader.list(listed);
  } catch (error) {
    // Only the store can recognise its own cursors.
    if (listed.cursor === undefined || !(error instanceof RangeError)) throw error;
    throw invalidField('/cursor', 'must be the nextCursor of an earlier page');
  }
}

/** The changes of a list. @throws {ConversationError} invalid_request naming the option; store_unavailable */
export async function watchList(
  reader: ConversationReader,
  own: { readonly tenant: string; readonly channel: Channel },
  { after, signal, tenant, agent, root, status }: WatchListOptions,
): Promise<AsyncIterable<ConversationsFrame>> {
  const by = listedBy(own, { tenant, agent, root, status });
  if (after !== undefined && parsePlace(after) === undefined)
    throw invalidField('/after', 'must be an id of a frame, such as "t-1700000000000"');
  if (reader.watchList === undefined) {
    const text = 'The changes of lists need the event log: give the client a reader';
    throw new ConversationError('store_unavailable', text);
  }
  return await reader.watchList(by, { after, signal: signal ?? new AbortController().signal });
}

function listedBy(
  own: { readonly tenant: string; readonly channel: Channel },
  options: ListOptions,
): ListedBy {
  const { tenant = own.tenant, status, pendingTool, pendingKind, limit, cursor } = options;
  const agent = nameOfAgent(options.agent);
  const { root } = options;
  const problem = idProblem('tenant', tenant);
  if (problem !== undefined) throw invalidField('/tenant', problem);
  const rootProblem = root === undefined ? undefined : idProblem('root', root);
  if (rootProblem !== undefined) throw invalidField('/root', rootProblem);
  if (status !== undefined && !STATUS_FILTERS.includes(status))
    throw invalidField('/status', `must be one of ${STATUS_FILTERS.join(', ')}`);
  if (pendingKind !== undefined && !SUSPENSION_KINDS.includes(pendingKind))
    throw invalidField('/pendingKind', `must be one of ${SUSPENSION_KINDS.join(', ')}`);
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIST_PAGE))
    throw invalidField('/limit', `must be a whole number from 1 to ${MAX_LIST_PAGE}`);
  const pendingFor = listedFor(options.pendingFor, own.channel);
  const deadlineBefore = timeOf(options.deadlineBefore);
  return {
    tenant,
    ...(agent === undefined ? {} : { agent }),
    ...(root === undefined ? {} : { root }),
    ...(status === undefined ? {} : { status }),
    ...(pendingTool === undefined ? {} : { pendingTool }),
    ...(pendingKind === undefined ? {} : { pendingKind }),
    ...(pendingFor === undefined ? {} : { pendingFor }),
    ...(deadlineBefore === undefined ? {} : { deadlineBefore }),
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function listedFor(
  actor: ListOptions['pendingFor'],
  channel: Channel,
): ListedBy['pendingFor'] | undefined {
  if (actor === undefined) return undefined;
  const { id, roles, verified } = stampActor(actor, channel, 'pendingFor');
  return { id, verified, ...(roles === undefined ? {} : { roles }) };
}

export function timeOf(deadlineBefore: ListOptions['deadlineBefore']): string | undefined {
  if (deadlineBefore === undefined) return undefined;
  const time = new Date(deadlineBefore);
  if (Number.isNaN(time.getTime()))
    throw invalidField('/deadlineBefore', 'must be a time, such as "2030-01-31T12:00:00Z"');
  return time.toISOString();
}
