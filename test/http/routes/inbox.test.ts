/** Events of other systems over HTTP. */
import { expect, it } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../../src/protocol/limits/limits.js';
import { noAnswer, refusal } from '../../support/fakes/fake-temporal.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const INBOX = '/v1/conversations/c-1/inbox';
const EVENT = { eventId: 'pay-1', kind: 'payment.settled', payload: { cents: 5 } };
const REPLY = { eventId: 'pay-1', seq: 10 };

it('events reach a conversation once for each id, with the actor that vouches for them', async () => {
  let known = false;
  const app = await startHttpApp({
    updateWithStart: () => {
      if (known) throw refusal('duplicate', REPLY);
      known = true;
      return REPLY;
    },
  });
  app.reader.add('c-1', sampleLog('c-1'));
  const post = async () => await app.post(INBOX, { ...EVENT, actor: { id: 'bank' } });
  const [first, second] = [await post(), await post()];
  expect([first.status, second.status]).toEqual([200, 200]);
  const admitted = { conversationId: 'c-1', status: 'admitted', ...REPLY };
  expect(await first.json()).toEqual({ ...admitted, duplicate: false });
  expect(await second.json()).toEqual({ ...admitted, duplicate: true });
  expect(app.calls[0]).toMatchObject({
    name: 'inboxEvent',
    workflowId: 'conversation:default:c-1',
    input: {
      ...EVENT,
      agent: 'support',
      actor: { id: 'bank', verified: false, channel: 'api' },
    },
  });
});

it('events without an id of their own take the Idempotency-Key', async () => {
  const app = await startHttpApp({ updateWithStart: () => ({ eventId: 'k', seq: 1 }) });
  app.reader.add('c-1', sampleLog('c-1'));
  const { eventId: _none, ...unnamed } = EVENT;
  const key = { 'idempotency-key': 'k' };
  expect((await app.post(INBOX, unnamed, key)).status).toBe(200);
  expect(app.calls).toMatchObject([{ input: { eventId: 'k' } }]);
  for (const [body, headers] of [
    [EVENT, key],
    [unnamed, {}],
  ] as const) {
    const response = await app.post(INBOX, body, headers);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path: '/eventId' }] });
  }
});

it('events start a conversation only when they name its agent', async () => {
  const app = await startHttpApp({
    updateWithStart: () => REPLY,
    describe: () => ({ memo: {} }),
  });
  const refused = await app.post(INBOX, EVENT);
  expect(refused.status).toBe(404);
  expect(await refused.json()).toMatchObject({ code: 'unknown_conversation' });
  const unknown = await app.post(INBOX, { ...EVENT, agent: 'nobody' });
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ code: 'unknown_agent' });
  expect((await app.post(INBOX, { ...EVENT, agent: 'support' })).status).toBe(200);
});

it('events are queued while no worker answers, and the reply says so', async () => {
  const app = await startHttpApp({
    updateWithStart: () => {
      throw noAnswer();
    },
    signalWithStart: () => undefined,
  });
  app.reader.add('c-1', sampleLog('c-1'));
  const response = await app.post(INBOX, EVENT);
  expect(response.status).toBe(202);
  expect(await response.json()).toMatchObject({
    status: 'queued',
    eventId: 'pay-1',
    warning: expect.stringContaining('npx colloquy worker') as string,
  });
  const kinds = app.calls.map(({ kind }) => kind);
  expect(kinds).toEqual(['updateWithStart', 'signalWithStart', 'describe']);
});

it.each([
  ['without a kind', { eventId: 'e', payload: 1 }, '/kind'],
  ['of an invalid kind', { ...EVENT, kind: 'a b' }, '/kind'],
  ['without a payload', { eventId: 'e', kind: 'k' }, '/payload'],
  ['too large', { ...EVENT, payload: 'x'.repeat(MAX_MESSAGE_BYTES) }, '/payload'],
  ['under an id of the engine’s own', { ...EVENT, eventId: 'tr:call_1' }, '/eventId'],
  ['with an unknown field', { ...EVENT, type: 'x' }, '/type'],
])('events %s never reach the conversation', async (_what, body, path) => {
  const app = await startHttpApp();
  app.reader.add('c-1', sampleLog('c-1'));
  const response = await app.post(INBOX, body);
  expect(response.status).toBe(422);
  const problem = (await response.json()) as { detail: string };
  expect(problem).toMatchObject({ code: 'invalid_request', errors: [{ path }] });
  expect(problem.detail).toContain(path.slice(1));
  expect(app.calls).toEqual([]);
});

it.each([
  ['conversation_closed', 410],
  ['queue_full', 429],
  ['agent_mismatch', 409],
])('events refused as %s are a problem with that code', async (code, status) => {
  const app = await startHttpApp({
    updateWithStart: () => {
      throw refusal(code, { message: 'no' });
    },
  });
  app.reader.add('c-1', sampleLog('c-1'));
  const response = await app.post(INBOX, EVENT);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ code });
});
