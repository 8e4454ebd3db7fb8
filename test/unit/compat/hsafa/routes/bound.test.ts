/** Every route of Hsafa, for a caller who may use one conversation only. */
import { expect, it } from 'vitest';
import { hsafaDescription } from '../../../../../src/compat/hsafa/routes/description.js';
import { servedRoutes } from '../../../../support/compat/hsafa-routes.js';

/** Each part of the service that a route may ask; none must be asked. */
const UNTOUCHED = new Proxy(
  {},
  {
    get: (_, name) => () => {
      throw new Error(`${String(name)} was asked`);
    },
  },
);

const EVERYTHING = { offers: true, agents: true, toolbox: true, servers: true };
const OPERATIONS = Object.entries(hsafaDescription(EVERYTHING).paths).flatMap(
  ([path, operations]) => Object.keys(operations).map((method) => [method.toUpperCase(), path]),
);

it('there are routes to try', () => {
  expect(OPERATIONS.length).toBeGreaterThan(10);
});

it.each(OPERATIONS)(
  '%s %s refuses it for anything else, and asks nothing',
  async (method = '', path = '') => {
    const parts = {
      ...{ client: UNTOUCHED, offers: UNTOUCHED, agents: UNTOUCHED },
      ...{ toolbox: UNTOUCHED, servers: UNTOUCHED },
      identity: { conversation: 'own', rights: ['admin', 'answer', 'read', 'send'] },
    };
    const base = await servedRoutes(parts as never);
    const named = path.replace('{runId}', 'other:turn_1').replaceAll(/\{\w+\}/g, 'other');
    const body = path.endsWith('trigger')
      ? { serviceName: 's', payload: 1 }
      : { callId: 'c', result: 1, name: 'other' };
    const response = await fetch(`${base}${named}?tools=a`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(body) }),
    });
    expect([403, 404]).toContain(response.status);
    expect(await response.json()).toMatchObject({ error: expect.any(String) as string });
  },
);
