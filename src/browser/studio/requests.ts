/** Requests of pages that look into conversations. */
import type { ModelCallRead } from '../../protocol/model/model-calls.js';
import type { WhatIfCancelled, WhatIfPage, WhatIfReport } from '../../protocol/workflow/what-if.js';
import type { WithApi } from '../net/api.js';
import { newId } from '../net/waiting.js';
import type { ForkedConversation, ShownRun, WhatIfRequest } from './types.js';

function pathOf(conversationId: string, below = ''): string {
  return `/v1/conversations/${encodeURIComponent(conversationId)}${below}`;
}

/** The request that a model call got; `at` is the place of its `model_call`. @throws {ApiError} */
export async function modelCallOf(
  { api }: WithApi,
  conversationId: string,
  at: { readonly generation: number; readonly seq: number },
): Promise<ModelCallRead> {
  const query = { generation: String(at.generation) };
  return await api.read(pathOf(conversationId, `/model-calls/${at.seq}`), { query });
}

/** The run of the conversation in Temporal. @throws {ApiError} */
export async function runOf({ api }: WithApi, conversationId: string): Promise<ShownRun> {
  return await api.read(pathOf(conversationId, '/run'));
}

/** Begins a fork from a place of the log. Sent until there is an answer: one fork. @throws {ApiError} */
export async function forkOf(
  { api }: WithApi,
  conversationId: string,
  from: {
    readonly generation: number;
    readonly atSeq: number;
    /** Waiting calls that are to wait anew in the fork. */
    readonly reopen?: readonly string[];
    readonly requestId?: string;
  },
): Promise<ForkedConversation> {
  return await api.change(pathOf(conversationId, '/fork'), { requestId: newId(), ...from });
}

/**
 * Plays a turn again with another definition, without running a tool. Sent until there is an answer: one what-if. Returns
 * its id. @throws {ApiError}
 */
export async function whatIfOf(
  { api }: WithApi,
  conversationId: string,
  request: WhatIfRequest,
): Promise<string> {
  const path = pathOf(conversationId, '/what-if');
  const body = { requestId: newId(), ...request };
  return (await api.change<{ readonly whatIfId: string }>(path, body)).whatIfId;
}

/** State and steps of a what-if. @throws {ApiError} */
export async function whatIfReportOf(
  { api }: WithApi,
  conversationId: string,
  whatIfId: string,
): Promise<WhatIfReport> {
  return await api.read(pathOf(conversationId, `/what-if/${encodeURIComponent(whatIfId)}`));
}

/** What-ifs of the conversation, the newest first; at most `limit`. @throws {ApiError} */
export async function whatIfsOf(
  { api }: WithApi,
  conversationId: string,
  { limit, cursor }: { readonly limit?: number; readonly cursor?: string } = {},
): Promise<WhatIfPage> {
  const query = {
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  return await api.read(pathOf(conversationId, '/what-if'), { query });
}

/** Cancels a what-if; its finished steps stay readable. Sent until there is an answer. @throws {ApiError} */
export async function cancelWhatIf(
  { api }: WithApi,
  conversationId: string,
  whatIfId: string,
): Promise<WhatIfCancelled> {
  const below = `/what-if/${encodeURIComponent(whatIfId)}/cancel`;
  return await api.change(pathOf(conversationId, below), {});
}

/** The conversation as a test. @throws {ApiError} naming the event that a test cannot play again */
export async function testOf({ api }: WithApi, conversationId: string): Promise<string> {
  const path = pathOf(conversationId, '/export');
  return await api.text(path, { query: { format: 'test' } });
}

/** Deletes the conversation with all its data, for good. Safe to repeat. @throws {ApiError} */
export async function deleteConversation({ api }: WithApi, conversationId: string): Promise<void> {
  await api.change(pathOf(conversationId), undefined, { method: 'DELETE' });
}
