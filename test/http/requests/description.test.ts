/** The description of the API: valid, complete, and what the routes do. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../src/http/app.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { NAMED_OPERATIONS } from '../../../src/http/openapi/refusals.js';
import { OPERATIONS } from '../../../src/http/openapi/rows/operations.js';
import { requireDescribed } from '../../support/networks/described.js';
import { routesIn } from '../../support/networks/router-routes.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { startHttpApp } from '../../support/servers/http-app.js';

describe('the description of the API', promise('G340'), () => {
  const document = openApiDocument('1.2.3');

  it('is a valid document of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('has every route of the router, and no other', () => {
    const codec = { codecs: [], origins: [] };
    const app = createApp({ identify: identifyAll, codec } as never);
    const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    // The files of the web page are no operations: they hold no data, and need no identity.
    const studio = ['get /ui/conversations', 'get /ui/conversations/:conversation'];
    const chat = ['get /ui/chat', 'get /ui/chat/:agent', 'get /ui/chat/:agent/:conversation'];
    const faces = ['get /ui/inbox', ...studio, ...chat, 'get /ui/operations'];
    const files = ['get /ui', 'get /ui/assets/:file', ...faces];
    // Mounted at `/codec`, where configured. Temporal defines their form, and only its programs send requests to them.
    const temporal = ['post /decode', 'post /encode'];
    expect([...described, ...files, ...temporal].toSorted()).toEqual(routesIn(app).toSorted());
    const ids = OPERATIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(NAMED_OPERATIONS.filter((name) => !ids.includes(name))).toEqual([]);
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
      responses: { 200: {}, 409: {}, 422: {}, 503: {} },
    });
    const turn = document.paths['/v1/turns/{turnId}']?.['get'];
    expect(turn).toMatchObject({
      parameters: [
        { name: 'turnId' },
        { name: 'wait', in: 'query', schema: { examples: ['20s'] } },
        { name: 'timeout', in: 'query', schema: { deprecated: true, examples: ['20s'] } },
        { name: 'atLeastSeq' },
      ],
    });
    const close = document.paths['/v1/conversations/{id}/close']?.['post'];
    expect(close).toMatchObject({ requestBody: { required: false } });
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    for (const { responses } of operations) expect(responses).not.toHaveProperty('default');
  });

  it('is served, with the version of the package', async () => {
    const { request } = await startHttpApp();
    const response = await request('/openapi.json');
    expect(await response.json()).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Colloquy', version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string },
    });
  });

  it.each([
    ['getConversation', [400, 401, 403, 404, 408, 413, 415, 421, 422, 429, 431, 500, 503]],
    // A message may find its conversation busy, closed, or still closing.
    [
      'sendMessage',
      [400, 401, 403, 404, 408, 409, 410, 413, 415, 421, 422, 429, 431, 500, 503, 504],
    ],
    // Answers to calls are never limited.
    ['resolveToolCall', [400, 401, 403, 404, 408, 409, 410, 413, 415, 421, 422, 431, 500, 503]],
    ['listAgents', [400, 401, 403, 408, 413, 415, 421, 422, 429, 431, 500, 503]],
    ['isAlive', [400, 403, 408, 413, 415, 421, 422, 431, 500]],
  ])('gives %s the refusals that it can answer, and no other', (id, refused) => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const named = operations.find(({ operationId }) => operationId === id) ?? {};
    const statuses = Object.keys(named['responses'] as object).map(Number);
    expect(statuses.filter((status) => status >= 400)).toEqual(refused);
  });

  it('has a queued verdict for answers to calls alone', () => {
    const isVerdict = ({ answers }: (typeof OPERATIONS)[number]): boolean =>
      answers[202] !== undefined && answers[202] === answers[409];
    expect(OPERATIONS.filter(isVerdict).map(({ id }) => id)).toEqual([
      'resolveToolCall',
      'resolveSpaceCall',
    ]);
  });

  const json = (
    body: object,
    status = 200,
    type = 'application/json',
    headers: Record<string, string> = {},
  ): Response =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': type, ...headers } });
  const problem = (status: number, code: string, headers: Record<string, string> = {}): Response =>
    json(
      { type: 'x', title: 'x', status, detail: 'x', code },
      status,
      'application/problem+json',
      headers,
    );

  it.each([
    ['a status', '/v1/agents', json({}, 203), 'get /v1/agents: 203 is not described'],
    ['a type', '/v1/agents', json({ agents: [] }, 200, 'text/plain'), '"text/plain" is not'],
    ['a form', '/v1/agents', json({ agents: [{ title: 'x' }] }), "required property 'name'"],
    ['a problem', '/v1/agents', json({ oops: 1 }, 500, 'application/problem+json'), 'required'],
    ['a refusal', '/v1/agents', problem(409, 'busy'), 'get /v1/agents: 409 is not described'],
    ['a failure', '/v1/agents', problem(502, 'model_not_found'), '502 is not described'],
    ['a code', '/v1/agents', problem(403, 'not_a_member'), 'must be equal to one of the allowed'],
    ['a body', '/v1/conversations/c-1/blobs/b', json({}, 416), 'a body is not described'],
    ['a header', '/v1/agents', problem(403, 'forbidden', { etag: 'x' }), 'ETag is not described'],
    ['no Retry-After', '/v1/agents', problem(429, 'rate_limited'), 'Retry-After is described, and'],
    ['no ETag', '/openapi.json', json(document), 'ETag is described, and not sent'],
  ])('refuses an answer of a test with %s that it does not have', async (_, path, answer, why) => {
    await expect(requireDescribed('GET', path, answer)).rejects.toThrow(why);
  });
});
