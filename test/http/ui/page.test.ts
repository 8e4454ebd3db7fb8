/** The files of the web page: without an identity, under a strict policy, and nothing but the files. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../src/http/listen.js';
import { readPage } from '../../../src/http/ui/files.js';
import { uiRouter } from '../../../src/http/ui/routes.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const ASSET = /(?:src|href)="(\/ui\/assets\/[^"]+)"/g;
const unknown = () => undefined;

describe('the web page', () => {
  it('comes without credentials, under a policy that allows its own origin alone', async () => {
    const app = await startHttpApp({}, { identify: unknown });
    const answer = await app.request('/ui/inbox');
    expect(answer.status).toBe(200);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    const html = await answer.text();
    expect(html).not.toMatch(/<style|<script(?![^>]* src=)| style=| on\w+=/);
    expect(html.match(/https?:\/\//g)).toBeNull();
    expect((await app.request('/v1/worklist')).status).toBe(401);
  });

  it('names assets by their content, which are kept for ever', async () => {
    const app = await startHttpApp({}, { identify: unknown });
    const html = await (await app.request('/ui/inbox')).text();
    const assets = [...html.matchAll(ASSET)].map(([, path = '']) => path);
    expect(assets.some((path) => path.endsWith('.js'))).toBe(true);
    for (const path of assets) {
      expect(path).toMatch(/-[\w-]{8}\.\w+$/);
      const asset = await app.request(path);
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([
        ...[200, 'public, max-age=31536000, immutable'],
      ]);
      expect(asset.headers.get('content-encoding')).toBe('gzip');
      const plain = await app.request(path, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(await plain.text()).toBe(await asset.text());
    }
  });

  it.each([
    ['GET', '/ui', 307],
    ['HEAD', '/ui/inbox', 200],
    ['HEAD', '/ui/chat', 200],
    ['HEAD', '/ui/chat/support/order-42', 200],
    ['POST', '/ui/inbox', 405],
    ['GET', '/ui/other', 401],
    ['GET', '/ui/assets/other.js', 404],
    ['GET', '/ui/assets/..%2findex.html', 404],
    ['GET', '/ui/assets/..%2f..%2fopenapi.json', 404],
    ['GET', '/ui/assets/%00', 404],
  ])('answers %s %s with %i', async (method, path, status) => {
    const app = await startHttpApp({}, { identify: unknown });
    expect((await app.request(path, { method, redirect: 'manual' })).status).toBe(status);
  });

  it('is away where it is turned off', async () => {
    const app = await startHttpApp({}, { ui: 'off' });
    expect((await app.request('/ui/inbox')).status).toBe(404);
  });
});

it('a page that has not been built says so, and files of unknown types are not served', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'colloquy-ui-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const url = pathToFileURL(`${folder}/`);
  expect(await readPage(new URL('none/', url))).toEqual(new Map());
  const server = await serve(express().use(uiRouter(() => readPage(new URL('none/', url)))), {
    port: 0,
  });
  onTestFinished(() => server.close());
  expect((await fetch(`${server.url}/ui/inbox`)).status).toBeGreaterThanOrEqual(400);
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'assets', 'a.js'), '1');
  await writeFile(join(folder, 'assets', 'a.map'), '1');
  expect([...(await readPage(url)).keys()]).toEqual(['assets/a.js']);
});
