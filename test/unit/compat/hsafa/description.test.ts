import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Validator } from '@seriousme/openapi-schema-validator';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hsafaRoutes } from '../../../../src/compat/hsafa/index.js';
import { hsafaDescription } from '../../../../src/compat/hsafa/routes/description.js';
import { servedRoutes } from '../../../support/compat/hsafa-routes.js';
import { routesIn } from '../../../support/networks/router-routes.js';
import { promise } from '../../../support/promise.js';

const ALL = { offers: true, agents: true, toolbox: true, servers: true };
const NONE = { offers: false, agents: false, toolbox: false, servers: false };
const OWN = 'get /api/openapi.json';

function described(of: Parameters<typeof hsafaDescription>[0]): readonly string[] {
  return Object.entries(hsafaDescription(of).paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
}

function routes(parts: object): readonly string[] {
  return routesIn(express().use(hsafaRoutes({ spaces: false, ...parts } as never)));
}

const isEmpty = (content: object): boolean => Object.keys(content).length === 0;

describe('the description of the routes', promise('G340'), () => {
  it('is a valid document of OpenAPI 3.1', async () => {
    const validator = new Validator();
    const document = structuredClone(hsafaDescription(ALL));
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it.each([
    ['all parts', { offers: {}, agents: {}, toolbox: {}, servers: {} }],
    ['no parts', {}],
    ['a toolbox', { toolbox: {} }],
  ])('has every route of a router with %s, and no other', (_, parts) => {
    const of = {
      offers: 'offers' in parts,
      agents: 'agents' in parts,
      toolbox: 'toolbox' in parts,
    };
    const names = described({ ...of, servers: 'servers' in parts });
    expect([...names, OWN].toSorted()).toEqual([...routes(parts)].toSorted());
  });

  it('has no schema for streams, which a client could take for that of each event', () => {
    const { paths } = hsafaDescription(ALL);
    for (const path of ['/api/runs/{runId}/stream', '/api/tools/stream'])
      expect(paths[path]?.['get']).toMatchObject({
        responses: {
          200: { content: { 'text/event-stream': expect.toSatisfy(isEmpty) as unknown } },
        },
      });
  });

  it('names the methods of a path to a request with another one', async () => {
    const parts = { offers: {}, agents: {}, toolbox: {}, servers: {}, spaces: false };
    const app = express().use(hsafaRoutes({ ...parts, identify: () => undefined } as never));
    const server = app.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const [path, operations] of Object.entries(hsafaDescription(ALL).paths)) {
      const methods = Object.keys(operations).map((method) => method.toUpperCase());
      const allow = methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
      const address = `${base}${path.replaceAll(/\{\w+\}/g, 'x')}`;
      const response = await fetch(address, { method: 'PATCH' });
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow.join(', ')]);
      expect(await response.json()).toHaveProperty('error');
      expect((await fetch(address, { method: 'OPTIONS' })).status).toBe(200);
    }
  });

  it('is served to everybody', async () => {
    const url = await servedRoutes({ identity: undefined });
    const response = await fetch(`${url}/api/openapi.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(hsafaDescription(NONE))));
  });
});
