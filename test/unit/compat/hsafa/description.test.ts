import { Validator } from '@seriousme/openapi-schema-validator';
import express from 'express';
import { describe, expect, it } from 'vitest';
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

  it('is served to everybody', async () => {
    const url = await servedRoutes({ identity: undefined });
    const response = await fetch(`${url}/api/openapi.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(hsafaDescription(NONE))));
  });
});
