/** A conversation of the API without a server: calls that wait, and the answers that a page sends. */
import { page } from 'vitest/browser';
import { type BrowserClient, createBrowserClient } from '../../../src/browser/index.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { ScriptedApi } from '../../support/pages/scripted-api.js';
import { json } from '../../support/pages/scripted-fetch.js';
import { asks, started, suspends } from '../../support/samples/log-events.js';

export const REFUND = suspends('t1', 'call-1', {
  ...{ name: 'payments.refund', reason: 'Money leaves the house', argsDigest: 'd-1' },
  prompt: { paymentId: 'p_1', cents: 7_500 },
});
export const QUESTION = suspends('t1', 'call-2', {
  ...{
    name: 'customer.ask',
    executor: 'human',
    kind: 'elicitation',
    prompt: { question: 'Which?' },
  },
  answerSchema: {
    ...{ type: 'object', required: ['answer'], additionalProperties: false },
    properties: { answer: { type: 'string', minLength: 1 } },
  },
});
export const CART = suspends('t1', 'call-3', {
  ...{ name: 'cart.read', executor: 'client', kind: 'client_execution', prompt: { currency: '€' } },
});

/** Pauses between tries that no test waits for. */
const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000 };

export function clientOf(api: ScriptedApi): BrowserClient {
  return createBrowserClient({
    ...{ baseUrl: '', fetch: api.fetch, me: { id: 'ann' }, timing: QUICK },
  });
}

/** The API of a conversation in which these calls wait; it accepts every answer. */
export function apiWith(...calls: readonly EventBody[]): ScriptedApi {
  const api = new ScriptedApi(started(), ...asks('t1'), ...calls);
  api.instead = ({ method, path }) =>
    method === 'POST' && path.endsWith('/resolution') ? accepted() : undefined;
  return api;
}

export function accepted(toolCallId = 'call-1'): Response {
  return json({ verdict: 'accepted', toolCallId, seq: 9 });
}

/** The answers that the page has sent. */
export function answersOf(api: ScriptedApi): readonly unknown[] {
  return api.sent('POST', '/resolution').map(({ body }) => body['resolution']);
}

export function approvalOf(tool: string) {
  return page.getByRole('region', { name: `Approval: ${tool}` });
}
