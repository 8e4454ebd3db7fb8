/** Secrets of HTTP tools: they are in the request and nowhere else. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { httpTool, jsonSchema, secret } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import {
  type Answer,
  body,
  json,
  runHttpTool,
  startPeer,
} from '../../../support/servers/http-peer.js';

const SECRET = 'hush "hush"/+\u00fc&\'';
const open = jsonSchema<Record<string, never>>({ type: 'object' });
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Everything that one call leaves: its end and its log lines. */
async function leftBy(answer: Answer, over: Readonly<Record<string, unknown>> = {}) {
  vi.stubEnv('X_TOKEN', SECRET);
  const log: string[] = [];
  await using peer = await startPeer(answer);
  const tool = httpTool({
    name: 'x.get',
    description: 'Gets x.',
    input: open,
    allowPrivate: true,
    method: 'GET',
    url: peer.url,
    headers: { authorization: secret('X_TOKEN', { prefix: 'Bearer ' }) },
    fixedQuery: { key: secret('X_TOKEN') },
    ...over,
  });
  const end = await runHttpTool(tool, { log, services: { vault: () => 'from the vault' } });
  const retry = 'retry' in end ? end.retry : undefined;
  const shown = [JSON.stringify(end), retry?.message ?? '', retry?.stack ?? '', ...log].join('\n');
  return { end, shown, requests: peer.requests };
}

/** Forms of the secret that must not appear, in every notation. */
const FORMS = [
  SECRET,
  JSON.stringify(SECRET).slice(1, -1),
  JSON.stringify(JSON.stringify(SECRET)).slice(2, -2),
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
  Buffer.from(SECRET).toString('base64url'),
  'hush',
];

describe('a secret of an HTTP tool', () => {
  it('is looked up in the worker, and sent', async () => {
    const { requests, end } = await leftBy(json('fine'));
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(new URLSearchParams(requests[0]?.target.slice(2)).get('key')).toBe(SECRET);
    expect(end).toMatchObject({ envelope: { ok: true, result: 'fine' } });
  });

  const echo: Answer = (request, response) => {
    response.setHeader('x-echo', encodeURIComponent(SECRET));
    json({
      ...request,
      [`key ${SECRET}`]: [Buffer.from(SECRET).toString('base64'), { deep: `a ${SECRET} b` }],
    })(request, response);
  };

  it.each([
    ['quotes it', echo, {}],
    ['quotes it in an error', json({ error: `unknown key ${SECRET}` }, 401), {}],
    ['quotes it in an error that is tried again', json({ error: SECRET }, 503), {}],
    [
      'quotes it in an error that the definition reads',
      json({ error: `bad ${SECRET}` }, 400),
      { error: '/error' },
    ],
    ['quotes it where JSON was meant', body(`<p>${SECRET}</p>`, 'text/html'), {}],
    [
      'quotes it in a text',
      body(`x ${encodeURIComponent(SECRET)}`, 'text/plain'),
      { response: 'text' },
    ],
    [
      'quotes it past the bound of the text',
      body(`${'x'.repeat(490)}${SECRET}`, 'text/plain', 400),
      {},
    ],
    ['quotes it to a mapping', echo, { result: (answer: unknown) => answer }],
    [
      'quotes it to a mapping that fails',
      echo,
      {
        result: (answer: unknown) => {
          throw new Error(JSON.stringify(answer));
        },
      },
    ],
    [
      'quotes it as other languages write JSON',
      (_request, response) => {
        const escaped = JSON.stringify({ SECRET })
          .replaceAll('/', '\\/')
          .replaceAll('\u00fc', '\\u00fc');
        body(escaped, 'application/json', 400)(_request, response);
      },
      {},
    ],
    [
      'quotes it in a page',
      body(
        `<p>No such key: ${SECRET.replace('&', '&amp;').replaceAll('"', '&quot;').replace("'", '&#39;')}</p>`,
        'text/html',
        403,
      ),
      {},
    ],
    [
      'quotes it in an address in lower case',
      body(
        encodeURIComponent(SECRET).replaceAll(/%../g, (it) => it.toLowerCase()),
        'text/plain',
        404,
      ),
      {},
    ],
    ['is cut', (_request, response) => response.destroy(), {}],
    [
      'redirects to it',
      (_request, response) =>
        response.writeHead(302, { location: `gopher://${encodeURIComponent(SECRET)}` }).end(),
      {},
    ],
  ])('is shown nowhere when an answer %s', promise('G138', 'S47'), async (_what, answer, over) => {
    const { shown } = await leftBy(answer, over);
    for (const form of FORMS) expect(shown).not.toContain(form);
  });

  it('may come from a function, called for every request; its errors are shown nowhere', async () => {
    const find = vi.fn((ctx: { services: unknown }) =>
      (ctx.services as { vault: () => string }).vault(),
    );
    const headers = { 'x-key': secret(find) };
    const { requests } = await leftBy(json(null), { headers });
    await leftBy(json(null), { headers });
    expect(requests[0]?.headers['x-key']).toBe('from the vault');
    expect(find).toHaveBeenCalledTimes(2);
    const failing = secret(() => Promise.reject(new TypeError(SECRET)));
    const {
      shown,
      end,
      requests: none,
    } = await leftBy(json(null), { headers: { 'x-key': failing } });
    expect(end).toMatchObject({
      envelope: {
        error: { message: 'The secret for header "x-key" could not be looked up' },
      },
    });
    expect(none).toEqual([]);
    for (const form of FORMS) expect(shown).not.toContain(form);
  });

  it.each([
    ['is not there', undefined, 'is not there'],
    ['is empty', '', 'is not there'],
    ['is too short to be found again', 'abc', 'has fewer than 4 characters'],
    ['has a line end', 'hush-hush\nx-a: b', 'must be printable Latin-1 on one line'],
  ])('that %s ends the call before anything is sent', async (_what, value, rule) => {
    vi.stubEnv('Y_TOKEN', value);
    const { shown, requests } = await leftBy(json(null), {
      headers: { 'x-key': secret('Y_TOKEN') },
    });
    expect(shown).toContain(rule);
    expect(shown).not.toContain('hush-hush');
    expect(requests).toEqual([]);
  });
});
