/** Files at the provider of the models, which callers name by id: nothing but the port of the API knows their owners. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Identity, RIGHTS } from '../../../src/http/identity/identity.js';
import type { ProviderFile, ProviderFiles } from '../../../src/http/identity/provider-files.js';
import { OPERATIONS } from '../../../src/http/openapi/rows/operations.js';
import type { AppDeps } from '../../../src/http/request/deps.js';
import { defineTool } from '../../../src/index.js';
import { callsAll, says } from '../../../src/model/scripted/scripted.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { promise } from '../../support/promise.js';
import { CALL, sampleLog, TURN } from '../../support/samples/sample-log.js';
import { type HttpApp, startHttpApp } from '../../support/servers/http-app.js';
import { answeringRoom } from '../../support/spaces/answering-room.js';
import { DESK } from '../../support/spaces/room-of-agent.js';

const ANN: Identity = {
  tenants: ['acme', 'beta'],
  actor: { id: 'ann' },
  verified: true,
  rights: RIGHTS,
};
const OF_ACME = 'file-acme';
const OF_BETA = 'file-beta';
const file = (fileId: string) => ({ type: 'file', source: { fileId } });
const resultWith = (...ids: readonly string[]) => ({
  type: 'result',
  value: 1,
  files: ids.map(file),
});

/** Every place of the API that takes files, with the path of the first one's id. */
const PLACES = [
  {
    place: 'a first message',
    path: '/v1/conversations',
    body: (...ids: readonly string[]) => ({
      ...{ agent: 'support', id: 'c-1', message: 'Hi', attachments: ids.map(file) },
    }),
    field: '/attachments/0/source/fileId',
  },
  {
    place: 'a first message that is an object',
    path: '/v1/conversations',
    body: (...ids: readonly string[]) => ({
      ...{ agent: 'support', id: 'c-1', message: { text: 'Hi', attachments: ids.map(file) } },
    }),
    field: '/message/attachments/0/source/fileId',
  },
  {
    place: 'a message',
    path: '/v1/conversations/c-1/messages',
    body: (...ids: readonly string[]) => ({ text: 'Hi', attachments: ids.map(file) }),
    field: '/attachments/0/source/fileId',
  },
  {
    place: 'a result',
    path: `/v1/conversations/c-1/tool-calls/${CALL}/resolution`,
    body: (...ids: readonly string[]) => ({ resolution: resultWith(...ids) }),
    field: '/resolution/files/0/source/fileId',
  },
  {
    place: 'a result that is the body',
    path: `/v1/conversations/c-1/tool-calls/${CALL}/resolution`,
    body: (...ids: readonly string[]) => resultWith(...ids),
    field: '/resolution/files/0/source/fileId',
  },
];

/** The port of an application that keeps the owner of each upload. */
function owners(): ProviderFiles & { readonly asked: ProviderFile[] } {
  const asked: ProviderFile[] = [];
  return {
    asked,
    owns: (asking) => {
      asked.push(asking);
      return Promise.resolve(asking.fileId === `file-${asking.tenant}`);
    },
  };
}

async function start(deps: Partial<AppDeps> = {}): Promise<HttpApp> {
  const app = await startHttpApp(
    {
      update: () => ({ verdict: 'accepted', turnId: TURN, toolCallId: CALL, seq: 9 }),
      updateWithStart: () => ({ turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 }),
      describe: () => ({ status: { name: 'RUNNING' } }),
    },
    { identify: () => ANN, ...deps },
  );
  app.reader.add('c-1', sampleLog('c-1').slice(0, 5));
  return app;
}

const written = ({ calls }: HttpApp) => calls.filter(({ kind }) => kind !== 'describe');

describe.each(PLACES)('an id of a file in $place', ({ path, body, field }) => {
  it('of another tenant is refused, and nothing is sent', promise('G347'), async () => {
    const providerFiles = owners();
    const app = await start({ providerFiles });
    const refused = await app.post(path, body(OF_BETA, OF_ACME));
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: field, message: expect.stringContaining('the caller may use') as string }],
    });
    expect(written(app)).toEqual([]);
    const { actor, ...asked } = providerFiles.asked[0] ?? {};
    expect(asked).toEqual({ tenant: 'acme', conversationId: 'c-1', fileId: OF_BETA });
    expect(actor).toMatchObject({ id: 'ann', verified: true });
  });

  it('of the tenant is taken, and asked for once', async () => {
    const providerFiles = owners();
    const app = await start({ providerFiles });
    const taken = await app.post(path, body(OF_ACME, OF_ACME));
    expect(taken.status).toBeLessThan(300);
    expect(JSON.stringify(written(app)[0]?.input)).toContain(OF_ACME);
    expect(providerFiles.asked).toHaveLength(1);
    const ofBeta = await app.post(`${path}?tenant=beta`, body(OF_ACME));
    expect(ofBeta.status).toBe(422);
  });

  it('is refused where the API does not know the owners, naming the option', async () => {
    const app = await start();
    const refused = await app.post(path, body(OF_ACME));
    expect(refused.status).toBe(422);
    const message = expect.stringContaining('createApp({ providerFiles })') as string;
    expect(await refused.json()).toMatchObject({ errors: [{ path: field, message }] });
    expect(written(app)).toEqual([]);
  });

  it('is taken from a development actor', async () => {
    const app = await start({ identify: identifyAll });
    expect((await app.post(path, body(OF_ACME))).status).toBeLessThan(300);
  });
});

it('the port is asked for the actor that a body names, and its failure lets nothing in', async () => {
  const providerFiles = owners();
  const app = await start({ providerFiles });
  const { path, body } = PLACES[2]!;
  await app.post(path, { ...body(OF_ACME), actor: { id: 'bob' } });
  expect(providerFiles.asked[0]).toMatchObject({ actor: { id: 'bob', verified: true } });
  const failing = await start({ providerFiles: { owns: () => Promise.reject(new Error('away')) } });
  expect((await failing.post(path, body(OF_ACME))).status).toBe(500);
  expect(written(failing)).toEqual([]);
});

it('files by address or in the store need no port', async () => {
  const app = await start();
  const image = { type: 'image', source: { url: 'https://example.com/a.png' } };
  const sent = await app.post('/v1/conversations/c-1/messages', {
    text: 'Hi',
    attachments: [image],
  });
  expect(sent.status).toBe(202);
});

it('an id in one of many answers refuses that answer alone', async () => {
  const app = await start({ providerFiles: owners() });
  const item = (fileId: string, requestId: string) => ({
    ...{ conversationId: 'c-1', toolCallId: CALL, requestId },
    resolution: resultWith(fileId),
  });
  const items = [item(OF_BETA, 'r-1'), item(OF_ACME, 'r-2')];
  const answered = await app.post('/v1/worklist/resolutions', { items });
  const problem = { path: '/resolution/files/0/source/fileId' };
  expect(await answered.json()).toMatchObject({
    results: [
      { httpStatus: 422, verdict: 'invalid', problems: [problem] },
      { httpStatus: 200, verdict: 'accepted' },
    ],
  });
  expect(written(app)).toHaveLength(1);
});

it('an id in an answer by a space is refused like that of its conversation', async () => {
  const locate = defineTool({
    ...{ name: 'locate', description: 'Locate', input: z.object({}), executor: 'client' },
    metadata: { visible: true },
  });
  const enter = { name: 'enter_space', input: { spaceId: DESK } };
  const calls = callsAll([enter, { name: 'locate', input: {} }]);
  const { t, as, pathOf } = await answeringRoom([locate], calls, says('asked'), says('done'));
  await t.send('Go');
  const refused = await as('bob').post(await pathOf('locate'), resultWith(OF_ACME));
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    errors: [{ path: '/resolution/files/0/source/fileId' }],
  });
});

it('the description says it at every body that takes files, and these are all', () => {
  const bodies = OPERATIONS.flatMap(({ id, bodies: taken = [] }) =>
    taken.map(
      (body) => [id, JSON.stringify(body.toJSONSchema({ unrepresentable: 'any' }))] as const,
    ),
  );
  const naming = bodies.filter(([, schema]) => schema.includes('`fileId`')).map(([id]) => id);
  expect([...new Set(naming)].toSorted()).toEqual([
    ...['createConversation', 'resolveMany', 'resolveSpaceCall', 'resolveToolCall', 'sendMessage'],
  ]);
});
