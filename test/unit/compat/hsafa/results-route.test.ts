/** The route for results of tools, over HTTP, on a conversation of the test kit. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { ConversationClient } from '../../../../src/client/index.js';
import { ConversationError } from '../../../../src/client/index.js';
import {
  type CallerIdentity,
  hsafaAgents,
  type ResultsClient,
  runIdOf,
} from '../../../../src/compat/hsafa/index.js';
import { defineAgent, defineTool } from '../../../../src/index.js';
import {
  calls,
  callsAll,
  says,
  script,
  type TestConversation,
  testConversation,
} from '../../../../src/testing/index.js';
import { resultsClient, servedRoutes, submitted } from '../../../support/compat/hsafa-routes.js';
import { promise } from '../../../support/promise.js';

const WAITS = { name: 'fetchExternalData', executionType: 'external', timeout: 10_000 };
const ASYNC = { name: 'confirmAction', executionType: 'space', isAsync: true };
const ECHO = { name: 'displayChart', executionType: 'internal' };

async function waiting(...names: readonly string[]) {
  const model = script(
    names.length === 1
      ? calls(names[0] ?? '', { q: 1 })
      : callsAll(names.map((name) => ({ name, input: { q: 1 } }))),
    says('So.'),
    says('Then.'),
    says('At last.'),
  );
  const { agents } = hsafaAgents(
    { name: 'a', instructions: 'Help.', model: 'm', tools: [WAITS, ASYNC, ECHO] },
    { model: () => model, spaces: false },
  );
  return await begun(testConversation(agents[0]!));
}

async function begun(t: TestConversation<unknown>) {
  await t.send('go');
  const { turnId } = t.eventsOf('turn_started')[0] ?? { turnId: '' };
  return {
    t,
    runId: runIdOf('talk', turnId),
    client: resultsClient(t, { id: 'talk', tenant: 'acme' }),
  };
}

const OK = [200, { success: true, agentEntityId: 'talk' }];
const NOT_FOUND = [404, { error: 'Pending tool call not found' }];
const RESOLVED = [409, { error: 'Tool call already resolved' }];

describe('POST /api/runs/{runId}/tool-results', () => {
  it('takes the result of a call that is waited for, once', {
    ...promise('S29', 'H42', 'H43', 'H45', '2.H.4'),
  }, async () => {
    const { t, runId, client } = await waiting('fetchExternalData');
    const base = await servedRoutes({ client });
    const body = { callId: 'call_1', result: { found: 3 } };
    expect(await submitted(base, runId, body, { 'idempotency-key': 'k' })).toEqual(OK);
    expect(t.result('fetchExternalData')).toEqual({ ok: true, result: { found: 3 } });
    expect(t.text).toBe('So.');
    expect(t.eventTypes).not.toContain('inbox_event');
    expect(t.eventsOf('resolution')).toMatchObject([
      { actor: { id: 'ann', verified: true, channel: 'api' } },
    ]);
    // The same request again, and another one.
    expect(await submitted(base, runId, body, { 'idempotency-key': 'k' })).toEqual(OK);
    expect(await submitted(base, runId, body)).toEqual(RESOLVED);
  });

  it('takes the answer to an async call, which wakes the agent', {
    ...promise('S29', 'H42', 'H44'),
  }, async () => {
    const { t, runId, client } = await waiting('confirmAction');
    const base = await servedRoutes({ client });
    expect(t.text).toBe('So.');
    expect(await submitted(base, runId, { callId: 'call_1', result: { confirmed: true } })).toEqual(
      OK,
    );
    expect(t.text).toBe('Then.');
    expect(t.eventsOf('inbox_event')).toHaveLength(1);
    expect(await submitted(base, runId, { callId: 'call_1', result: {} })).toEqual(RESOLVED);
  });

  it('takes one late result, which goes to the inbox', promise('S29', 'H42', 'H44'), async () => {
    const { t, runId, client } = await waiting('fetchExternalData');
    const base = await servedRoutes({ client });
    await t.advance('10s');
    expect(await submitted(base, runId, { callId: 'call_1', result: 1 })).toEqual(OK);
    expect(t.eventsOf('inbox_event')).toHaveLength(1);
    expect(await submitted(base, runId, { callId: 'call_1', result: 2 })).toEqual(RESOLVED);
  });

  it('takes the answer to a question of a tool in mid-run, and the same request again', async () => {
    const Size = z.object({ size: z.number() });
    const order = defineTool({
      ...{ name: 'order', description: 'Orders.', input: z.object({}) },
      run: async (_input, ctx) => (await ctx.answerTo(Size)) ?? ctx.ask({ form: Size }),
    });
    const model = script(calls('order', {}), says('So.'));
    const agent = defineAgent({ name: 'a', instructions: 'Help.', model, tools: [order] });
    const { t, runId, client } = await begun(testConversation(agent));
    const base = await servedRoutes({ client });
    const body = { callId: 'call_1', result: { size: 40 } };
    expect(await submitted(base, runId, body, { 'idempotency-key': 'k' })).toEqual(OK);
    expect(t.text).toBe('So.');
    expect(await submitted(base, runId, body, { 'idempotency-key': 'k' })).toEqual(OK);
    expect(await submitted(base, runId, body)).toEqual(RESOLVED);
  });

  it('answers calls of one step each by its id', async () => {
    const { t, runId, client } = await waiting(
      'displayChart',
      'confirmAction',
      'fetchExternalData',
    );
    const base = await servedRoutes({ client });
    expect(await submitted(base, runId, { callId: 'call_1', result: 1 })).toEqual(NOT_FOUND);
    expect(await submitted(base, runId, { callId: 'call_2', result: 2 })).toEqual(OK);
    expect(await submitted(base, runId, { callId: 'call_3', result: 3 })).toEqual(OK);
    expect(t.result('fetchExternalData')).toEqual({ ok: true, result: 3 });
  });

  it.each<[string, (runId: string) => string, unknown, unknown]>([
    ['no callId', (id) => id, { result: 1 }, [400, { error: 'callId is required' }]],
    ['an empty callId', (id) => id, { callId: '' }, [400, { error: 'callId is required' }]],
    ['a number for the callId', (id) => id, { callId: 7 }, [400, { error: 'callId is required' }]],
    ['a list', (id) => id, [1], [400, { error: 'callId is required' }]],
    ['no JSON', (id) => id, '{', [400, { error: 'The body must be JSON' }]],
    [
      'too much',
      (id) => id,
      JSON.stringify('x'.repeat(1_100_000)),
      [413, { error: 'The body has more than 1mb' }],
    ],
    ['an unknown callId', (id) => id, { callId: 'call_9' }, NOT_FOUND],
    ['an unknown conversation', () => 'nowhere:turn_1', { callId: 'call_1' }, NOT_FOUND],
    ['an id that is no run', () => '../talk', { callId: 'call_1' }, NOT_FOUND],
    [
      'another run',
      () => 'talk:turn_x_1',
      { callId: 'call_1' },
      [403, { error: 'Tool call does not belong to this run' }],
    ],
  ])(
    'refuses %s, and the call still waits',
    promise('S29', 'H42', '2.H.4'),
    async (_title, of, body, answer) => {
      const { t, runId, client } = await waiting('fetchExternalData');
      const base = await servedRoutes({ client });
      expect(await submitted(base, of(runId), body)).toEqual(answer);
      expect(t.pending).toHaveLength(1);
      expect(t.eventTypes).not.toContain('resolution');
    },
  );

  it.each<[string, Partial<CallerIdentity> | undefined, string, unknown]>([
    ['is unknown', undefined, '', [401, { error: 'The request has no valid credentials' }]],
    [
      'has expired',
      { expiresAt: new Date(0) },
      '',
      [401, { error: 'The request has no valid credentials' }],
    ],
    [
      'may not answer',
      { rights: ['read', 'send'] },
      '',
      [403, { error: 'The caller lacks the right "answer"' }],
    ],
    ['is of another tenant', { tenants: ['other'] }, '', NOT_FOUND],
    ['names its other tenant', {}, '?tenant=other', NOT_FOUND],
    [
      'names a tenant of others',
      {},
      '?tenant=umbrella',
      [403, { error: 'The caller may not name this tenant' }],
    ],
    ['is bound to another conversation', { conversation: 'elsewhere' }, '', NOT_FOUND],
  ])('refuses a caller who %s', promise('S29'), async (_title, identity, query, answer) => {
    const { t, runId, client } = await waiting('fetchExternalData');
    const base = await servedRoutes({ client, identity });
    const response = await fetch(`${base}/api/runs/${runId}/tool-results${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ callId: 'call_1', result: 1 }),
    });
    expect([response.status, await response.json()]).toEqual(answer);
    expect(t.pending).toHaveLength(1);
  });

  it('says that an answer is queued, or that the store is not there', async () => {
    const { runId, client } = await waiting('fetchExternalData');
    const conversation = client.conversation('talk', { tenant: 'acme' });
    const queued = { verdict: 'queued', reason: 'no_worker', toolCallId: 'call_1' } as never;
    const resolve = () => Promise.resolve(queued);
    const away = () =>
      Promise.reject(new ConversationError('store_unavailable', 'The store is away'));
    const slow = await servedRoutes({
      client: { conversation: () => ({ ...conversation, resolve }) },
    });
    expect(await submitted(slow, runId, { callId: 'call_1' })).toEqual([
      202,
      { success: true, agentEntityId: 'talk', queued: true },
    ]);
    const down = await servedRoutes({
      client: { conversation: () => ({ ...conversation, snapshot: away }) },
    });
    expect(await submitted(down, runId, { callId: 'call_1' })).toEqual([
      503,
      { error: 'The store is away', code: 'store_unavailable' },
    ]);
  });

  it('takes a ConversationClient', () => {
    expectTypeOf<ConversationClient>().toExtend<ResultsClient>();
  });
});
