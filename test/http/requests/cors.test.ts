/** Pages of other origins that the application lets use the API. */
import { Router } from 'express';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../../src/http/app.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';
const PATH = '/v1/conversations/c-1';

async function appFor(cors: object) {
  const app = await startHttpApp({}, { cors: { origins: [SHOP], ...cors } });
  app.reader.add('c-1', sampleLog('c-1').slice(0, 3));
  return app;
}

const from = (origin: string, more: Record<string, string> = {}) => ({
  headers: { origin, 'sec-fetch-site': 'cross-site', ...more },
});

describe('a page of an origin in the list', promise('G342'), () => {
  it('may read answers and streams, and no cookie is sent unless the application wants it', async () => {
    const app = await appFor({});
    const response = await app.request(PATH, from(SHOP));
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(SHOP);
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(response.headers.get('vary')).toContain('Origin');
    const withCookies = await appFor({ credentials: true });
    const allowed = await withCookies.request(PATH, from(SHOP));
    expect(allowed.headers.get('access-control-allow-credentials')).toBe('true');
  });

  it('learns by a preflight request what it may send', async () => {
    const app = await appFor({});
    const asked = { 'access-control-request-method': 'POST' };
    const headers = 'content-type,idempotency-key';
    const response = await app.request(`${PATH}/messages`, {
      method: 'OPTIONS',
      ...from(SHOP, { ...asked, 'access-control-request-headers': headers }),
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST, DELETE');
    expect(response.headers.get('access-control-allow-headers')).toBe(headers);
  });

  it.each(['PUT', 'PATCH', 'DELETE'])(
    'may send %s to routes of the application',
    async (method) => {
      const routes = () => Router().all('/own', (_request, response) => void response.json({}));
      const app = await startHttpApp({}, { cors: { origins: [SHOP] }, routes });
      const asked = from(SHOP, { 'access-control-request-method': method });
      const response = await fetch(`${app.server.url}/own`, { method: 'OPTIONS', ...asked });
      const allowed = response.headers.get('access-control-allow-methods') ?? '';
      expect(allowed.split(', ')).toContain(method);
    },
  );
});

describe('a page of another origin', promise('G342'), () => {
  it('gets no CORS header, and is refused', async () => {
    const app = await appFor({});
    const response = await app.request(PATH, from(OTHER));
    expect(response.status).toBe(403);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const none = await startHttpApp();
    expect((await none.request(PATH, from(SHOP))).status).toBe(403);
  });

  it('does not get the codec endpoint, which has a list of its own', async () => {
    const codec = { codecs: [], origins: [] };
    const app = await startHttpApp({}, { codec, cors: { origins: [SHOP] } });
    const response = await app.request('/codec/decode', { method: 'POST', ...from(SHOP) });
    expect(response.status).toBe(403);
  });
});

it.each(['*', 'shop.example', 'https://shop.example/', 'https://shop.example/page'])(
  'the list names origins: "%s" is refused',
  (origin) => {
    expect(() => createApp({ cors: { origins: [SHOP, origin] } } as never)).toThrow(
      'cors/origins/1',
    );
  },
);
