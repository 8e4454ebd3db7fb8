/** The route by which services wake an agent, over HTTP, on a conversation of the test kit. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type ConversationClient, ConversationError } from '../../../../../src/client/index.js';
import {
  type CallerIdentity,
  hsafaAgents,
  type TriggerClient,
} from '../../../../../src/compat/hsafa/index.js';
import { apiKeys, createKey } from '../../../../../src/http/identity/api-keys.js';
import type { ApiKeyRecord, ApiKeyStore } from '../../../../../src/store/ports/service/api-keys.js';
import {
  says,
  script,
  type TestConversation,
  testConversation,
} from '../../../../../src/testing/index.js';
import { servedRoutes } from '../../../../support/compat/hsafa-routes.js';
import { promise } from '../../../../support/promise.js';

const BODY = { serviceName: 'billing', payload: { invoice: 'in_1', cents: 900 } };

function living() {
  const { agents } = hsafaAgents(
    { name: 'a', instructions: 'Help.', model: 'm', tools: [] },
    { model: () => script(says('Seen.'), says('Seen again.')), spaces: false },
  );
  return testConversation(agents[0]!);
}

/** A client of the conversation `desk` of the tenant `acme`, with the refusals of a `ConversationClient`. */
function clientOf(t: TestConversation<unknown>): TriggerClient {
  return {
    conversation: (id, { tenant, agent }) => ({
      sendEvent: async (event, { actor }) => {
        const isThere = id === 'desk' && tenant === 'acme';
        if (!isThere && agent === undefined)
          throw new ConversationError('invalid_request', 'agent is needed', {
            problems: [{ path: '/agent', message: 'is needed to start a conversation' }],
          });
        if (!isThere) throw new ConversationError('unknown_agent', 'No such agent');
        await t.sendEvent({ ...event, actor });
        return { status: 'admitted' };
      },
    }),
  };
}

async function triggered(base: string, body: unknown, headers: object = {}, path = 'desk') {
  const response = await fetch(`${base}/api/agents/${path}/trigger`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return [response.status, await response.json()] as const;
}

const NOT_FOUND = [404, { error: 'Agent not found' }];
const SENDER = { rights: ['send'] };

describe('POST /api/agents/{agentId}/trigger', () => {
  it('wakes the agent with an event of type service, once for each key', {
    ...promise('G418', '2.H.3'),
  }, async () => {
    const t = living();
    const base = await servedRoutes({ client: clientOf(t), identity: SENDER });
    const taken = [200, { success: true, agentEntityId: 'desk', eventId: 'in-1' }];
    expect(await triggered(base, BODY, { 'idempotency-key': 'in-1' })).toEqual(taken);
    expect(t.text).toBe('Seen.');
    expect(await triggered(base, BODY, { 'idempotency-key': 'in-1' })).toEqual(taken);
    expect(t.eventsOf('inbox_event')).toMatchObject([
      {
        ...{ eventId: 'in-1', kind: 'service', payload: BODY },
        actor: { id: 'ann', verified: true, channel: 'api' },
      },
    ]);
    // Without a key each request is another event.
    const [, first] = await triggered(base, BODY);
    const [, second] = await triggered(base, BODY);
    expect(first).not.toEqual(second);
    expect(t.eventsOf('inbox_event')).toHaveLength(3);
  });

  it('takes the key of a service from x-secret-key, as every scheme of the API does', {
    ...promise('G418', '2.H.3'),
  }, async () => {
    const { store, keyOf } = keys();
    const t = living();
    const base = await servedRoutes({ client: clientOf(t), identify: apiKeys(store) });
    const key = await keyOf('send');
    const reader = await keyOf('read');
    expect(await triggered(base, BODY, { 'x-secret-key': key })).toMatchObject([200, {}]);
    expect(t.eventsOf('inbox_event')).toMatchObject([{ actor: { id: 'billing', verified: true } }]);
    const refused = async (headers: object) => (await triggered(base, BODY, headers))[0];
    expect(await refused({ 'x-secret-key': `${key}x` })).toBe(401);
    expect(await refused({ 'x-secret-key': '' })).toBe(401);
    expect(await refused({})).toBe(401);
    expect(await refused({ 'x-secret-key': reader })).toBe(403);
    // A request with both is judged by `Authorization`.
    const both = { authorization: `Bearer ${reader}`, 'x-secret-key': key };
    expect(await refused(both)).toBe(403);
    expect(t.eventsOf('inbox_event')).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ['no serviceName', { payload: 1 }, 'serviceName is required'],
    ['a number for it', { serviceName: 7, payload: 1 }, 'serviceName is required'],
    ['a blank one', { ...BODY, serviceName: ' ' }, 'serviceName is required'],
    [
      'a long one',
      { ...BODY, serviceName: 'x'.repeat(201) },
      'serviceName must have at most 200 characters',
    ],
    ['no payload', { serviceName: 'billing' }, 'payload is required'],
    ['another field', { ...BODY, tenant: 'other' }, 'tenant is not a field'],
    ['a number for the agent', { ...BODY, agent: 7 }, 'agent must be a text'],
    ['a list', [1], 'The body must be a JSON object'],
    ['no JSON', '{', 'The body must be JSON'],
  ])('refuses %s by its name', promise('G418'), async (_title, body, error) => {
    const t = living();
    const base = await servedRoutes({ client: clientOf(t), identity: SENDER });
    expect(await triggered(base, body)).toEqual([400, { error }]);
    expect(t.eventTypes).not.toContain('inbox_event');
  });

  it('has the problems of an event that the inbox refuses', promise('G418'), async () => {
    const client: TriggerClient = {
      conversation: () => ({
        sendEvent: () =>
          Promise.reject(
            new ConversationError('invalid_request', 'The event cannot be sent: payload is long', {
              problems: [{ path: '/payload', message: 'is long' }],
            }),
          ),
      }),
    };
    const base = await servedRoutes({ client, identity: SENDER });
    expect(await triggered(base, BODY)).toMatchObject([
      400,
      { code: 'invalid_request', problems: [{ path: '/payload', message: 'is long' }] },
    ]);
    expect(await triggered(base, BODY, { 'idempotency-key': 'x'.repeat(201) })).toMatchObject([
      400,
      { error: expect.stringContaining('Idempotency-Key must be at most') as string },
    ]);
  });

  it.each<[string, string, Partial<CallerIdentity>, object, string]>([
    ['is unknown', 'other-desk', {}, {}, ''],
    ['has an id that no agent has', '..%2Fdesk', {}, {}, ''],
    ['is to begin with an agent that the tenant does not have', 'new', {}, { agent: 'b' }, ''],
    ['is of another tenant', 'desk', { tenants: ['other'] }, {}, ''],
    ['is of the first tenant of a caller who names another', 'desk', {}, {}, '?tenant=other'],
    ['is another than the only one of the caller', 'desk', { conversation: 'd' }, {}, ''],
  ])('does not know an agent that %s', promise('G418'), async (_title, id, of, more, query) => {
    const t = living();
    const base = await servedRoutes({ client: clientOf(t), identity: { ...SENDER, ...of } });
    const response = await fetch(`${base}/api/agents/${id}/trigger${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...BODY, ...more }),
    });
    expect([response.status, await response.json()]).toEqual(NOT_FOUND);
    expect(t.eventTypes).not.toContain('inbox_event');
  });

  it('says that an event waits for the next worker', promise('G418'), async () => {
    const client: TriggerClient = {
      conversation: () => ({ sendEvent: () => Promise.resolve({ status: 'queued' }) }),
    };
    const base = await servedRoutes({ client, identity: SENDER });
    expect(await triggered(base, BODY, { 'idempotency-key': 'k' })).toEqual([
      202,
      { success: true, agentEntityId: 'desk', eventId: 'k', queued: true },
    ]);
  });

  it('takes a ConversationClient', () => {
    expectTypeOf<ConversationClient>().toExtend<TriggerClient>();
  });
});

/** Keys in memory. */
function keys() {
  const records = new Map<string, ApiKeyRecord>();
  const store = {
    add: (record: ApiKeyRecord) => {
      records.set(record.id, record);
      return Promise.resolve(true);
    },
    find: (id: string) => Promise.resolve(records.get(id)),
  } as ApiKeyStore;
  const keyOf = async (right: 'read' | 'send') => {
    const of = { name: 'billing', tenants: ['acme'], roles: [], rights: [right] };
    return (await createKey(store, of)).key;
  };
  return { store, keyOf };
}
