/** Requests of HTTP tools to the API of the same installation, which could take them for those of a person. */
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { httpTool, jsonSchema } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import { CALL, sampleLog } from '../../../support/samples/sample-log.js';
import { startHttpApp } from '../../../support/servers/http-app.js';
import { envelopeOf, errorOf, json, startPeer } from '../../../support/servers/http-peer.js';

const input = jsonSchema<Record<string, never>>({ type: 'object' });

function toolOf(url: string, over: Readonly<Record<string, unknown>> = {}) {
  const fields = { name: 'x.post', description: 'Posts x.', input, allowPrivate: true } as const;
  return httpTool({ ...fields, method: 'POST', url, ...over });
}

/** The first address that this machine has in a network; loopback without any. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const own = all.find(({ internal, family }) => !internal && family === 'IPv4');
  return own?.address ?? '127.0.0.1';
}

const REFUSED = /^The request was not sent: .* is the API of this installation, which no tool may/;

describe('a tool that sends to the API of its own worker', promise('G140'), () => {
  it('does not approve its own call, although all that the API needs is in its request', async () => {
    const accepted = { verdict: 'accepted', toolCallId: CALL, seq: 9 };
    const app = await startHttpApp({ update: () => accepted });
    app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
    const path = `/v1/conversations/c-1/tool-calls/${CALL}/resolution`;
    const answer = { type: 'answer', value: 'yes' };
    const tool = toolOf(`${app.server.url}${path}`, { body: () => answer });
    // The API and the tools are in one process, so these need no address.
    const { port } = app.server;
    expect(await errorOf(tool)).toBe(
      `The request was not sent: "127.0.0.1" with the port ${port} is the API of this installation, which no tool may reach`,
    );
    expect(app.calls).toEqual([]);
    expect(app.logged).toEqual([]);
    // The same request, sent by another program.
    const sent = await app.post(path, answer);
    expect(await sent.json()).toMatchObject({ verdict: 'accepted' });
    expect(app.calls).toHaveLength(1);
    await app.server.close();
    expect(await errorOf(tool)).toContain('the connection was refused');
  });

  it.each([
    ['its name', 'http://localhost', 'http://127.0.0.1'],
    ['another loopback address', 'http://127.0.0.1', 'http://127.0.0.9'],
    ['a mapped address', 'http://127.0.0.1', 'http://[::ffff:127.0.0.1]'],
    ['the address as one number', 'http://127.0.0.1', 'http://2130706433'],
    ['the address with parts left out', 'http://127.0.0.1', 'http://0x7f.1'],
    ['a name of its address', 'http://127.0.0.1', 'http://localhost'],
    ['an address of any interface', 'http://0.0.0.0', 'http://127.0.0.1'],
    ['loopback, where it has the address of a network', `http://${ownAddress()}`, 'http://[::1]'],
    ['https', 'http://127.0.0.1', 'https://127.0.0.1'],
  ])('is refused by %s', async (_how, api, target) => {
    await using peer = await startPeer(json('reached'));
    const tool = toolOf(`${target}:${peer.port}/v1`);
    const apiUrls = ['http://127.0.0.1:1', `${api}:${peer.port}`];
    expect(await errorOf(tool, { apiUrls })).toMatch(REFUSED);
    expect(peer.requests).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1', 'http://127.0.0.1:80'],
    ['https://127.0.0.1:443', 'https://127.0.0.1'],
    ['https://agents.example', 'https://AGENTS.example:443/v1'],
  ])('is refused where %s is left without its port: %s', async (api, target) => {
    expect(await errorOf(toolOf(target), { apiUrls: [api] })).toMatch(REFUSED);
  });

  it('is refused by the address that this machine has in its network', async () => {
    const address = ownAddress();
    const tool = toolOf(`http://${address}:8080/`, { allowPrivate: [address] });
    expect(await errorOf(tool, { apiUrls: ['http://127.0.0.1:8080'] })).toMatch(REFUSED);
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1.'],
    ['127.0.0.1', '0177.0.0.1'],
    ['127.0.0.1', '[::ffff:7f00:1]'],
    ['localhost', 'LOCALHOST.'],
    ['127.0.0.1', 'localhost'],
  ])('is refused where it is %s and another service redirects to %s', async (host, target) => {
    await using api = await startPeer(json('reached'));
    await using service = await startPeer((_request, response) => {
      response.writeHead(303, { location: `http://${target}:${api.port}/v1` }).end();
    });
    const apiUrls = [`http://${host}:${api.port}`];
    expect(await errorOf(toolOf(service.url), { apiUrls })).toMatch(REFUSED);
    expect([service.requests.length, api.requests.length]).toEqual([1, 0]);
  });

  it.each(['http://127.0.0.1:8080/v1', 'http://localhost:8080/v1', 'http://[::1]:8080/v1'])(
    'is refused before a proxy sees it: %s',
    async (target) => {
      await using proxy = await startPeer(json('reached'));
      const tool = toolOf(target, { proxy: proxy.url });
      expect(await errorOf(tool, { apiUrls: ['http://127.0.0.1:8080'] })).toMatch(REFUSED);
      expect(proxy.sockets.opened).toBe(0);
    },
  );

  it('reaches other services of the same machine, and other machines at the same port', async () => {
    await using service = await startPeer(json('reached'));
    const sent = await envelopeOf(toolOf(service.url), { apiUrls: ['http://127.0.0.1:1'] });
    expect(sent).toMatchObject({ ok: true, result: 'reached' });
    const apiUrls = [`http://198.51.100.1:${service.port}`];
    expect(await envelopeOf(toolOf(service.url), { apiUrls })).toMatchObject({ ok: true });
  });
});
