/** The actor of what a request sends: the caller, or another one by a right of its own. */
import { describe, expect, it } from 'vitest';
import type { Identify, Identity } from '../../../src/http/identity/identity.js';
import { type TokenSigner, tokenSigner } from '../../../src/http/identity/tokens.js';
import { OPERATIONS } from '../../../src/http/openapi/rows/operations.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { REQUEST_BODIES } from '../../support/samples/request-bodies.js';
import { CALL, sampleLog, TURN } from '../../support/samples/sample-log.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';

const ANN: Identity = {
  ...TESTING,
  actor: { id: 'ann', name: 'Ann', roles: ['lead'] },
  verified: true,
  rights: TESTING.rights.filter((right) => right !== 'act-as' && right !== 'admin'),
};
const BOT: Identity = { ...ANN, actor: { id: 'bot' }, rights: TESTING.rights };
const BOB = { id: 'bob', roles: ['owner'] };
const SENT = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };

/** Operations that answer a call. */
const ANSWERS = ['resolveToolCall', 'resolveMany', 'extendToolCall', 'claimToolCall', 'submitStep'];

async function appOf(identify: Identify, tokens?: TokenSigner): Promise<HttpApp> {
  const app = await startHttpApp(
    {
      update: () => ({ verdict: 'accepted', toolCallId: CALL, seq: 9, status: 'stopping' }),
      updateWithStart: () => SENT,
      signal: () => undefined,
      describe: () => ({ status: { name: 'RUNNING' } }),
    },
    { identify, ...(tokens === undefined ? {} : { tokens }) },
  );
  app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
  return app;
}

const TAKING = OPERATIONS.filter(
  ({ id, bodies = [] }) =>
    id === 'createTrigger' ||
    bodies.some((body) => 'actor' in ((body as { shape?: object }).shape ?? {})),
);

function sendTo(
  app: HttpApp,
  id: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { method = 'post', path = '' } = OPERATIONS.find((row) => row.id === id) ?? {};
  const values: Record<string, string> = { id: 'c-1', callId: CALL };
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? 'x-1');
  return app.request(url, {
    method: method.toUpperCase(),
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

describe('an actor in a body', promise('G348'), () => {
  it('is possible at these routes', () => {
    expect(TAKING.map(({ id }) => id).toSorted()).toEqual([
      ...['cancelTurn', 'claimToolCall', 'closeConversation', 'createConversation'],
      ...['createSpace', 'createTrigger', 'extendToolCall', 'joinSpace', 'mintToken'],
      ...[
        'readSpace',
        'reportProgress',
        'resolveMany',
        'resolveSpaceCall',
        'resolveToolCall',
        'revokeRule',
      ],
      ...['sendEvent', 'sendMessage', 'sendToSpace', 'startWhatIf', 'submitStep'],
    ]);
  });

  it('needs the right act-as at every route', async () => {
    for (const { id } of TAKING) {
      const body = REQUEST_BODIES[id];
      const app = await appOf(() => ANN);
      const refused = await sendTo(app, id, { ...body, actor: BOB });
      expect([id, refused.status]).toEqual([id, 422]);
      expect(await refused.json()).toMatchObject({
        code: 'invalid_request',
        errors: [{ path: '/actor', message: expect.stringContaining('"act-as"') as string }],
      });
      expect(app.calls.filter(({ kind }) => kind !== 'describe')).toEqual([]);
    }
  });

  it('in the first message is refused under its own name', async () => {
    const app = await appOf(() => ANN);
    const message = { text: 'Hi', actor: BOB };
    const refused = await app.post('/v1/conversations', { agent: 'support', message });
    expect(await refused.json()).toMatchObject({ errors: [{ path: '/message/actor' }] });
  });

  it('acts with the right, and the line of the log names both', async () => {
    const app = await appOf(() => BOT);
    await sendTo(app, 'resolveToolCall', { ...REQUEST_BODIES['resolveToolCall'], actor: BOB });
    const actor = { ...BOB, verified: true, channel: 'api' };
    expect(app.calls.at(-1)?.input).toMatchObject({ actor });
    expect(app.logged.at(-1)).toMatchObject({ caller: 'bot', actingAs: 'bob' });
  });
});

describe('without an actor in the body', promise('G348'), () => {
  it('an answer is that of the caller, with its roles, and verified', async () => {
    const app = await appOf(() => ANN);
    await sendTo(app, 'resolveToolCall', REQUEST_BODIES['resolveToolCall'] ?? {});
    const actor = { ...ANN.actor, verified: true, channel: 'api' };
    expect(app.calls.at(-1)?.input).toMatchObject({ actor });
    expect(app.logged.at(-1)).toMatchObject({ caller: 'ann' });
    expect(app.logged.at(-1)).not.toHaveProperty('actingAs');
  });

  it('an answer of a caller that proves nothing is not verified', async () => {
    const app = await appOf(() => ({ ...ANN, verified: false }));
    await sendTo(app, 'claimToolCall', {});
    expect(app.calls.at(-1)?.input).toMatchObject({ actor: { id: 'ann', verified: false } });
  });
});

describe('the credential of a caller', () => {
  it.each(['header', 'cookie'])(
    'in a %s goes no further: the input of the workflow has the actor alone, and the log neither',
    promise('G348'),
    async (place) => {
      const tokens = tokenSigner(['a secret of tokens with 32 characters']);
      const token = tokens.sign({ ...ANN, expiresAt: new Date(Date.now() + 60_000) });
      const signature = token.split('.')[1] ?? '';
      expect(signature).toHaveLength(43);
      const app = await appOf(() => undefined, tokens);
      for (const id of ANSWERS) {
        const { length } = app.calls;
        const answer = await sendTo(app, id, REQUEST_BODIES[id] ?? {}, {
          origin: app.server.url,
          ...(place === 'cookie'
            ? { cookie: `__Host-colloquy_session=${token}` }
            : { authorization: `Bearer ${token}` }),
        });
        // The token has identified the caller.
        expect([id, answer.status]).not.toEqual([id, 401]);
        expect(app.logged.at(-1)).toMatchObject({ caller: 'ann' });
        expect([id, app.calls.length]).not.toEqual([id, length]);
      }
      const said = JSON.stringify([app.calls, app.logged]);
      expect(said).toContain('"ann"');
      expect(said).not.toContain(signature);
      expect(said.toLowerCase()).not.toMatch(/bearer|authorization|cookie|clt_/);
    },
  );
});

describe('the list of what waits for an actor', promise('G348'), () => {
  const listing = async (identity: Identity, query: string) => {
    const listed: object[] = [];
    const app = await startHttpApp(
      {},
      {
        identify: () => identity,
        conversations: {
          list: (options) => {
            listed.push(options);
            return Promise.resolve({ conversations: [] });
          },
          checkWritable: () => Promise.resolve(),
        },
      },
    );
    const { status } = await app.request(`/v1/conversations?${query}`);
    return { status, listed };
  };

  it('is open to the caller for itself, with its own roles', async () => {
    const { listed } = await listing(ANN, 'pendingFor=ann');
    expect(listed).toMatchObject([{ pendingFor: { id: 'ann', roles: ['lead'], verified: true } }]);
  });

  it.each(['pendingFor=bob', 'pendingFor=ann&pendingForRole=owner'])(
    'for %s needs a right',
    async (query) => {
      expect(await listing(ANN, query)).toEqual({ status: 403, listed: [] });
      for (const right of ['act-as', 'admin'] as const) {
        const { status } = await listing({ ...ANN, rights: ['read', right] }, query);
        expect(status).toBe(200);
      }
    },
  );
});
