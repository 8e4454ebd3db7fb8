/** Requests of an operator's page. */
import type { OperationsAnswer, WorkerKilled } from '../../protocol/log/operations.js';
import type { WorklistPage } from '../../protocol/log/worklist.js';
import type { WithApi } from '../net/api.js';
import { defined } from '../net/defined.js';

/**
 * The state of the installation, and of the client's tenant in it. Callers at the same time share one look, so it may be
 * polled every few seconds. @throws {ApiError} also without the right `admin`
 */
export async function operationsOf(
  client: WithApi,
  signal?: AbortSignal,
): Promise<OperationsAnswer> {
  return await client.api.read<OperationsAnswer>('/v1/operations', defined({ signal }));
}

/**
 * Kills the worker of a development stack, which starts another. Sent once: a repeat after the other one is up would kill
 * that. @throws {ApiError} 404 elsewhere
 */
export async function killWorker(client: WithApi): Promise<WorkerKilled> {
  const path = '/v1/operations/kill-worker';
  return await client.api.read<WorkerKilled>(path, { method: 'POST', body: {} });
}

export interface WaitingCalls {
  /** The conversation of each call, by the call's ref. */
  readonly calls: ReadonlyMap<string, string>;
  /** There are more than were read. */
  readonly more: boolean;
}

const PAGE = 100;
const MAX_PAGES = 10;

/** The calls of the tenant that wait now, whoever may answer them, 1,000 at most. @throws {ApiError} */
export async function waitingCalls(client: WithApi): Promise<WaitingCalls> {
  const calls = new Map<string, string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { mine: 'false', limit: String(PAGE), cursor };
    const read = await client.api.read<WorklistPage>('/v1/worklist', { query });
    for (const { ref, conversationId } of read.items) calls.set(ref, conversationId);
    cursor = read.nextCursor;
    if (cursor === undefined) return { calls, more: false };
  }
  return { calls, more: true };
}
