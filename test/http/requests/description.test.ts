/** The description of the API: valid, complete, and what the routes do. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../src/http/app.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { OPERATIONS } from '../../../src/http/openapi/rows/operations.js';
import { requireDescribed } from '../../support/networks/described.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { startHttpApp } from '../../support/servers/http-app.js';

interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** Methods and paths of all routes, in no order. A route answers other methods itself, by `_all`. */
function routesIn(layers: readonly Layer[]): readonly string[] {
  return layers.flatMap(({ route, handle }) =>
    route === undefined
      ? routesIn(handle?.stack ?? [])
      : ['get', 'post', 'delete']
          .filter((method) => route.methods[method] === true)
          .map((method) => `${method} ${route.path}`),
  );
}

describe('the description of the API', promise('G340'), () => {
  const document = openApiDocument('1.2.3');

  it('is a valid document of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has every route of the router, and no other', () => {
    const app = createApp({ identify: identifyAll } as never) as unknown as {
      router: { stack: readonly Layer[] };
    };
    const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    // The files of the web page are no operations: they hold no data, and need no identity.
    const studio = ['get /ui/conversations', 'get /ui/conversations/:conversation'];
    const chat = ['get /ui/chat', 'get /ui/chat/:agent', 'get /ui/chat/:agent/:conversation'];
    const faces = ['get /ui/inbox', ...studio, ...chat, 'get /ui/operations'];
    const files = ['get /ui', 'get /ui/assets/:file', ...faces];
    expect([...described, ...files].toSorted()).toEqual(routesIn(app.router.stack).toSorted());
    const ids = OPERATIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('names the parameters, the body and the key of a request, and the refusals', () => {
    const resolve =
      document.paths['/v1/conversations/{id}/tool-calls/{callId}/resolution']?.['post'];
    expect(resolve).toMatchObject({
      operationId: 'resolveToolCall',
      parameters: [
        { name: 'id', in: 'path', required: true },
        { name: 'callId', in: 'path', required: true },
        { name: 'tenant', in: 'query', required: false },
        { name: 'Idempotency-Key', in: 'header' },
      ],
      requestBody: { required: true },
      responses: { 200: {}, 409: {}, default: { $ref: '#/components/responses/Problem' } },
    });
    const close = document.paths['/v1/conversations/{id}/close']?.['post'];
    expect(close).toMatchObject({ requestBody: { required: false } });
  });

  it('is served, with the version of the package', async () => {
    const { request } = await startHttpApp();
    const response = await request('/openapi.json');
    expect(await response.json()).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Colloquy', version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string },
    });
  });

  const json = (body: object, status = 200, type = 'application/json'): Response =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': type } });

  it.each([
    ['a status', '/v1/agents', json({}, 203), 'get /v1/agents: 203 is not described'],
    ['a type', '/v1/agents', json({ agents: [] }, 200, 'text/plain'), '"text/plain" is not'],
    ['a form', '/v1/agents', json({ agents: [{ title: 'x' }] }), "required property 'name'"],
    ['a problem', '/v1/agents', json({ oops: 1 }, 500, 'application/problem+json'), 'required'],
  ])('refuses an answer of a test with %s that it does not have', async (_, path, answer, why) => {
    await expect(requireDescribed('GET', path, answer)).rejects.toThrow(why);
  });
});
