/** Requests beside the stream of the worklist: many answers at once, and the agents with the schemas of their tools. */
import type { Resolution, Verdict } from '../../protocol/calls/resolutions.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { WithApi } from '../net/api.js';
import type { Problem } from '../net/problem.js';

export interface AnswerOfMany {
  readonly conversationId: string;
  readonly toolCallId: string;
  readonly resolution: Resolution;
  /** Names the answer: repeats under the same id count once. */
  readonly requestId: string;
  /** The digest of the arguments that the person has seen. */
  readonly argsDigest?: string | undefined;
}

/** `problem`: this answer got no verdict; send it again under its `requestId`. */
export type ResultOfMany = { readonly verdict: Verdict } | { readonly problem: Problem };

/** The body of one result: a verdict, or a problem (RFC 9457) with the status. */
type Shown = (Verdict | { readonly verdict?: never }) & {
  readonly httpStatus: number;
  readonly code?: string;
  readonly detail?: string;
};

/**
 * Sends at most 100 answers in one request, until there is an answer, or for `giveUpMs` in place of the client's time.
 * The results are in the order of the answers: each is judged alone. @throws {ApiError} when the API takes none of them
 */
export async function resolveMany(
  client: WithApi,
  answers: readonly AnswerOfMany[],
  options: { readonly keepalive?: boolean; readonly giveUpMs?: number } = {},
): Promise<readonly ResultOfMany[]> {
  // JSON leaves fields out that are undefined.
  const { results } = await client.api.change<{ readonly results: readonly Shown[] }>(
    '/v1/worklist/resolutions',
    { items: answers },
    options,
  );
  return results.map((shown) => {
    if (shown.verdict !== undefined) return { verdict: shown };
    const { httpStatus: status, code = 'failed', detail = 'The API gave no reason' } = shown;
    return { problem: { status, code, detail } };
  });
}

/** The agents that workers serve. @throws {ApiError} */
export async function agentsOf(client: WithApi): Promise<readonly AgentManifest[]> {
  const { agents } = await client.api.read<{ readonly agents: readonly AgentManifest[] }>(
    '/v1/agents',
    { query: { tenant: undefined } },
  );
  return agents;
}
