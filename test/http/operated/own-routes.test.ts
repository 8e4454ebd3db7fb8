/** Routes of an application in the app of the API. */
import { once } from 'node:events';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { developmentIdentity } from '../../../src/http/identity/development.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import type { AppDeps, RoutesContext } from '../../../src/http/request/deps.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { EVIL, send } from '../../support/servers/browser-requests.js';
import { startHttpApp } from '../../support/servers/http-app.js';

/** `GET /own` answers with the sender; `GET /own/stream` stays open until the signal. */
async function served(deps: Partial<AppDeps> = {}) {
  const received: string[] = [];
  const routes = ({ identify, signal }: RoutesContext) => {
    const router = express.Router();
    router.get('/own', async (request, response) => {
      received.push(request.originalUrl);
      const identity = await identify(request);
      response.json({ actor: identity?.actor.id ?? 'unknown' });
    });
    router.get('/own/stream', async (_request, response) => {
      response.write('open\n');
      if (!signal.aborted) await once(signal, 'abort');
      response.end('closed\n');
    });
    router.get('/own/fails', () => {
      throw new Error('secret of the application');
    });
    return router;
  };
  const { server } = await startHttpApp({}, { routes, ...deps });
  const ask = async (path: string, headers: Record<string, string> = {}) =>
    await fetch(server.url + path, { headers });
  return { server, ask, received };
}

describe('routes of an application', promise('G425'), () => {
  it('come before the identity of the API, have its headers, and pass the rest on', async () => {
    const { ask } = await served({ identify: () => undefined });
    const response = await ask('/own');
    expect(await response.json()).toEqual({ actor: 'unknown' });
    expect(response.headers.get('x-request-id')).toMatch(/./);
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'self'/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await ask('/v1/conversations')).status).toBe(401);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('identify callers by every scheme of the API', async () => {
    const tokens = tokenSigner(['a secret of tokens with 32 characters']);
    const page = { ...TESTING, actor: { id: 'page' }, conversation: 'c-1' };
    const expiresAt = new Date(Date.now() + 60_000);
    const token = tokens.sign({ ...page, rights: ['read'], expiresAt });
    const { ask } = await served({
      ...{ tokens, identify: (request) => (request.get('x-bot') ? TESTING : undefined) },
    });
    const actorOf = async (headers: Record<string, string>) =>
      await (await ask('/own', headers)).json();
    expect(await actorOf({ 'x-bot': 'yes' })).toEqual({ actor: TESTING.actor.id });
    expect(await actorOf({ authorization: `Bearer ${token}` })).toEqual({ actor: 'page' });
    expect(await actorOf({ authorization: 'Bearer other' })).toEqual({ actor: 'unknown' });
  });

  it('get no request of another host, or of a page of another site', async () => {
    const secret = 'a secret of development with 32 characters';
    const { server, received } = await served(developmentIdentity({ secret }));
    const status = async (headers: Record<string, string>) =>
      (await send(server.port, { method: 'GET', path: '/own', headers })).status;
    expect(await status({ host: 'evil.example' })).toBe(421);
    expect(await status({ origin: EVIL, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(received).toEqual([]);
    expect(await status({ host: 'localhost' })).toBe(200);
  });

  it('end their streams when the server stops, and errors of theirs are problems', async () => {
    const { server, ask } = await served();
    const failed = await ask('/own/fails');
    expect([failed.status, await failed.text()]).toEqual([
      500,
      expect.not.stringContaining('secret of the application'),
    ]);
    const stream = await ask('/own/stream');
    const text = stream.text();
    onTestFinished(() => server.close());
    await server.close();
    expect(await text).toBe('open\nclosed\n');
  });
});
