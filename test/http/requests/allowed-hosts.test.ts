/** Hosts, applications and origins that admit more requests than those of this machine. */
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/cli/process/config.js';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import { CompressionCodec } from '../../../src/client/payloads/payload-codec.js';
import { createApp } from '../../../src/http/app.js';
import { serve } from '../../../src/http/listen.js';
import { FakeReader } from '../../support/fakes/fake-reader.js';
import { fakeTemporal } from '../../support/fakes/fake-temporal.js';
import { identifyAll, TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { EVIL, passes, send, withConversation } from '../../support/servers/browser-requests.js';

describe('an allowed host', () => {
  const allowedHosts = ['Agents.example.com', 'fd00::5'];

  it(
    'accepts requests with any port, and requests from its own pages',
    promise('G133'),
    async () => {
      const app = await withConversation({ allowedHosts });
      for (const [headers, expected] of [
        [{ host: 'agents.example.com' }, true],
        [{ host: 'AGENTS.example.com:8080' }, true],
        [{ host: '[fd00::5]:8080' }, true],
        [{ host: 'localhost' }, true],
        [{ host: 'evil.agents.example.com' }, false],
        [{ host: 'example.com' }, false],
        // Behind a proxy that terminates TLS and forwards its own host.
        [{ origin: 'https://agents.example.com' }, true],
        [{ origin: 'https://agents.example.com', 'sec-fetch-site': 'cross-site' }, true],
        [{ origin: 'https://example.com', 'sec-fetch-site': 'cross-site' }, false],
      ] as const)
        expect(await passes(app, { headers })).toBe(expected);
    },
  );

  it.each(['https://agents.example.com', 'agents.example.com:8080', '*.example.com', '', 'a b'])(
    'that is "%s" is refused by name when the app is created',
    async (name) => {
      await expect(withConversation({ allowedHosts: ['ok', name] })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [
          {
            path: '/allowedHosts/1',
            message: 'must be a host name or an address, without scheme and port',
          },
        ],
      });
    },
  );
});

describe('the allowed hosts of a process', () => {
  it('come from its environment, or from the flag', () => {
    expect(readConfig({}).allowedHosts).toEqual([]);
    const environment = { COLLOQUY_ALLOWED_HOSTS: 'agents.example.com, api' };
    expect(readConfig(environment).allowedHosts).toEqual(['agents.example.com', 'api']);
    expect(readConfig(environment, { allowedHosts: 'b' }).allowedHosts).toEqual(['b']);
  });

  it.each(['https://api', 'api:8080', 'a,,b', ''])('cannot be "%s"; the error names it', (text) => {
    expect(() => readConfig({ COLLOQUY_ALLOWED_HOSTS: text })).toThrow(
      `COLLOQUY_ALLOWED_HOSTS (--allowed-hosts): each of them, separated by commas, must be a host name or an address, without scheme and port, got ${JSON.stringify(text)}`,
    );
  });
});

describe('if the application authenticates', () => {
  const knowing = { identify: () => TESTING };

  it('any Host is served: a page that came by DNS rebinding has no credentials', async () => {
    const app = await withConversation(knowing);
    expect(await passes(app, { headers: { host: 'agents.example.com' } })).toBe(true);
  });

  it('pages of other origins are refused, because browsers add cookies, but not with a bearer token, which browsers never add', {
    ...promise('G133'),
  }, async () => {
    const app = await withConversation(knowing);
    const headers = { 'sec-fetch-site': 'cross-site', origin: EVIL };
    expect(await passes(app, { headers: { ...headers, cookie: 'session=1' } })).toBe(false);
    expect(await passes(app, { headers: { ...headers, authorization: 'Basic YTpi' } })).toBe(false);
    expect(await passes(app, { headers: { ...headers, authorization: 'Bearer a' } })).toBe(true);
  });
});

describe('CORS', () => {
  const FRONT = 'https://app.example.com';

  it('headers of the application admit the pages that they name, but not "*"', {
    ...promise('G133'),
  }, async () => {
    const reader = new FakeReader();
    const conversations = {
      list: () => Promise.resolve({ conversations: [] }),
      checkWritable: () => Promise.resolve(),
    };
    const client = new ConversationClient({
      temporal: fakeTemporal({}).client,
      agents: [],
      reader,
    });
    const statuses = async (allowed: string): Promise<(number | undefined)[]> => {
      const parent = express();
      parent.use((_request, response, next) => {
        response.setHeader('Access-Control-Allow-Origin', allowed);
        next();
      });
      parent.use('/agents', createApp({ client, reader, conversations, identify: identifyAll }));
      const server = await serve(parent, { port: 0 });
      onTestFinished(() => server.close());
      const ask = async (origin: string): Promise<number | undefined> => {
        const headers = { 'sec-fetch-site': 'cross-site', origin };
        const sent = { method: 'GET', path: '/agents/healthz', headers };
        return (await send(server.port, sent)).status;
      };
      return [await ask(FRONT), await ask(EVIL)];
    };
    expect(await statuses(FRONT)).toEqual([200, 403]);
    expect(await statuses('*')).toEqual([403, 403]);
  });

  it('of the codec endpoint admits the UI there, and nowhere else', async () => {
    const ui = 'http://localhost:8233';
    const app = await withConversation({
      codec: { codecs: [new CompressionCodec()], origins: [ui] },
    });
    const headers = { 'sec-fetch-site': 'cross-site', origin: ui };
    expect(await passes(app, { path: '/codec/decode', headers })).toBe(true);
    expect(await passes(app, { headers })).toBe(false);
    const evil = { ...headers, origin: EVIL };
    expect(await passes(app, { path: '/codec/decode', headers: evil })).toBe(false);
    const rebound = { host: 'evil.example' };
    expect(await passes(app, { path: '/codec/decode', headers: rebound })).toBe(false);
  });
});
