import { request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { ProbePortUnavailable, type Probes, serveProbes } from '../../../src/net/probe-server.js';
import { readinessOf } from '../../../src/net/readiness.js';

const PROBES: Probes = {
  '/healthz': async () => ({ status: 200, body: '{"status":"ok"}' }),
  '/broken': () => Promise.reject(new Error('postgres://app:secret@db')),
};

async function started() {
  const server = await serveProbes(PROBES, { port: 0 });
  onTestFinished(() => server.close());
  return server;
}

/** Sends a `Host` of its own, which `fetch` does not. */
async function statusFor(port: number, host: string): Promise<number | undefined> {
  return await new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/healthz', headers: { host } });
    sent.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject);
    sent.end();
  });
}

it('serves its probes, and nothing else', async () => {
  const { url } = await started();
  const healthy = await fetch(`${url}/healthz?from=probe`);
  expect([healthy.status, await healthy.json()]).toEqual([200, { status: 'ok' }]);
  expect(healthy.headers.get('content-type')).toBe('application/json');
  expect(await (await fetch(`${url}/healthz`, { method: 'HEAD' })).text()).toBe('');
  expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
  for (const path of ['/', '/metrics', '/constructor'])
    expect((await fetch(url + path)).status).toBe(404);
});

it('says of a probe that fails only that it failed', async () => {
  const { url } = await started();
  const broken = await fetch(`${url}/broken`);
  expect([broken.status, await broken.json()]).toEqual([500, { error: 'the probe failed' }]);
});

it('is not read by a page whose name was rebound to this machine', async () => {
  const { port } = await started();
  expect(await statusFor(port, `localhost:${port}`)).toBe(200);
  expect(await statusFor(port, `attacker.example:${port}`)).toBe(421);
});

it('names an address that it cannot listen on', async () => {
  const { port } = await started();
  const taken = serveProbes(PROBES, { port });
  await expect(taken).rejects.toThrow(ProbePortUnavailable);
  await expect(taken).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: `);
  await expect(serveProbes(PROBES, { port: 0, host: 'no.such.host.invalid' })).rejects.toThrow(
    'cannot listen on no.such.host.invalid:0',
  );
});

it('is ready when every check passes in time, and says of each why not', async () => {
  const ok = async (): Promise<void> => undefined;
  expect(await readinessOf({ store: ok })).toEqual({ status: 'ready', checks: { store: 'ok' } });
  const hangs = () => new Promise<void>(() => undefined);
  const fails = () => Promise.reject(new Error('disk full'));
  expect(await readinessOf({ store: fails, temporal: hangs, polling: ok })).toEqual({
    status: 'not_ready',
    checks: { store: 'disk full', temporal: 'no answer in 2000 ms', polling: 'ok' },
  });
});
