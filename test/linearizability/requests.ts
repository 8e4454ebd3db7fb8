/** Requests of a history over HTTP, and their replies. */
import type { Input, Output } from './history.js';

export interface HttpRequest {
  /** Below `/v1/conversations/{id}`. */
  readonly path: string;
  readonly body: object;
}

export function requestOf(
  input: Input,
  at: { readonly toolCallId: string; readonly turnId: string },
): HttpRequest {
  const { op, requestId, actor } = input;
  const common = { actor: { id: actor }, ...(requestId === undefined ? {} : { requestId }) };
  const call = `/tool-calls/${encodeURIComponent(at.toolCallId)}`;
  const claim = input.claimId === undefined ? {} : { claimId: input.claimId };
  switch (op) {
    case 'cancel':
      return { path: '/cancel', body: { ...common, turnId: at.turnId } };
    case 'resolve': {
      const resolution: unknown = JSON.parse(input.content ?? '');
      return { path: `${call}/resolution`, body: { ...common, resolution, ...claim } };
    }
    case 'claim': {
      const only = input.renewOnly === true ? { renewOnly: true } : {};
      return {
        path: `${call}/claim`,
        body: { ...common, lease: input.leaseMs, ...claim, ...only },
      };
    }
    case 'extend': {
      const { byMs, untilMs } = input;
      const end = untilMs === undefined ? { by: byMs } : { until: new Date(untilMs).toISOString() };
      return { path: `${call}/extend`, body: { ...common, ...end } };
    }
  }
}

/**
 * The outcome of a request that got a reply. `unknown`: it may have taken effect, or may still. `refused`: a limit of the
 * API turned it away.
 */
export function outcomeOf(
  status: number,
  body: Readonly<Record<string, unknown>>,
): Output | 'unknown' | 'refused' {
  if (status === 429) return 'refused';
  const { verdict } = body;
  if (status >= 500 || verdict === 'queued' || body['status'] === 'queued') return 'unknown';
  if (body['status'] === 'done')
    return { verdict: body['cancelled'] === true ? 'cancelled' : 'nothing_to_cancel', ...of(body) };
  if (verdict === 'duplicate')
    return { verdict, ...of((body['first'] ?? {}) as Readonly<Record<string, unknown>>) };
  // A reply without a verdict has a place in no model, so the judge rejects its history.
  const said = [verdict, body['code']].find((name) => typeof name === 'string');
  return { verdict: said ?? `status ${status}`, ...of(body) };
}

function of(body: Readonly<Record<string, unknown>>): Omit<Output, 'verdict'> {
  const texts = ['why', 'status', 'by', 'claimId'].flatMap((name) => {
    const value = body[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  const { seq, deadline } = body;
  return {
    ...Object.fromEntries(texts),
    ...(typeof seq === 'number' ? { seq } : {}),
    ...(typeof deadline === 'string' ? { deadlineMs: Date.parse(deadline) } : {}),
  };
}
