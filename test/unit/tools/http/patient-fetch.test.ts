/** Requests whose answers take long. */
import type { ServerResponse } from 'node:http';
import { getGlobalDispatcher, ProxyAgent, setGlobalDispatcher } from 'undici';
import { afterEach, expect, it, vi } from 'vitest';
import { patientFetch } from '../../../../src/tools/http/patient-fetch.js';
import { promise } from '../../../support/promise.js';
import { json, startPeer } from '../../../support/servers/http-peer.js';
import { until } from '../../../support/until.js';

const TEN_MINUTES_MS = 10 * 60_000;
afterEach(() => {
  vi.useRealTimers();
});

it('wait for an answer, and for its body, through any silence', {
  ...promise('G141'),
}, async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const held: ServerResponse[] = [];
  await using peer = await startPeer((_request, response) => held.push(response));
  const answer = patientFetch(peer.url);
  await until('it has arrived', () => held.length);
  await vi.advanceTimersByTimeAsync(TEN_MINUTES_MS);
  held[0]?.writeHead(200).write('a');
  const body = (await answer).text();
  await vi.advanceTimersByTimeAsync(TEN_MINUTES_MS);
  held[0]?.end('b');
  expect(await body).toBe('ab');
});

it('end with their signal', async () => {
  await using peer = await startPeer(() => undefined);
  const stop = new AbortController();
  const answer = patientFetch(peer.url, { signal: stop.signal });
  answer.catch(() => undefined);
  await until('it has arrived', () => peer.requests.length);
  stop.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  await until('the connection is closed', () => peer.sockets.open === 0);
});

it('use the dispatcher that is set for the process, from then on', promise('G142'), async () => {
  await using peer = await startPeer(json('direct'));
  await using proxy = await startPeer(json('by proxy'));
  const before = getGlobalDispatcher();
  const agent = new ProxyAgent(proxy.url);
  const asked = async (url: string) => (await patientFetch(url)).json();
  expect(await asked(peer.url)).toBe('direct');
  setGlobalDispatcher(agent);
  try {
    expect(await asked('http://mcp.invalid/mcp')).toBe('by proxy');
  } finally {
    setGlobalDispatcher(before);
    await agent.destroy();
  }
  expect(proxy.requests).toMatchObject([{ target: 'http://mcp.invalid/mcp' }]);
  expect(await asked(peer.url)).toBe('direct');
});
