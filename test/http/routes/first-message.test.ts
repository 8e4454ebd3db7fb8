import { describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { problemOf } from '../../support/samples/problems.js';
import { TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };

describe('the first message of a conversation may be an object, like later ones', () => {
  it('with its options in the object', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY });
    const response = await app.post('/v1/conversations', {
      agent: 'support',
      message: { text: 'Hi', onBusy: 'queue', actor: { id: 'ann' } },
    });
    expect(response.status).toBe(202);
    expect(app.calls[0]?.input).toMatchObject({
      text: 'Hi',
      onBusy: 'queue',
      actor: { id: 'ann', verified: false, channel: 'api' },
    });
  });

  it('with the schema of its answer', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY });
    const output = { type: 'object', properties: { n: { type: 'integer' } } };
    const message = { text: 'How many?', output };
    await app.post('/v1/conversations', { agent: 'support', message });
    expect(app.calls[0]?.input).toMatchObject(message);
    const wrong = { ...message, output: { type: 'string' } };
    const response = await app.post('/v1/conversations', { agent: 'support', message: wrong });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      errors: [{ path: '/message/output', message: 'must be of type "object" at the top' }],
    });
  });

  it(
    'without a schema whose pattern cannot be matched in linear time',
    promise('G274'),
    async () => {
      const app = await startHttpApp({ updateWithStart: () => REPLY });
      const code = { type: 'string', pattern: '^(?=.*a)(.)\\1$' };
      const message = { text: 'Which?', output: { type: 'object', properties: { code } } };
      const response = await app.post('/v1/conversations', { agent: 'support', message });
      expect(response.status).toBe(422);
      const place = '/properties/code/pattern: the pattern cannot be matched in linear time';
      expect(await response.json()).toMatchObject({
        errors: [{ path: '/message/output', message: expect.stringContaining(place) as string }],
      });
      expect(app.calls).toEqual([]);
    },
  );

  it('with its options beside the message', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY });
    await app.post('/v1/conversations', {
      agent: 'support',
      message: { text: 'Hi' },
      onBusy: 'queue',
      actor: { id: 'ann' },
    });
    expect(app.calls[0]?.input).toMatchObject({
      text: 'Hi',
      onBusy: 'queue',
      actor: { id: 'ann' },
    });
  });

  it('with images and files by reference, like later messages', async () => {
    const app = await startHttpApp({ updateWithStart: () => REPLY });
    const attachments = [{ type: 'image', source: { url: 'https://example.com/a.png' } }];
    const message = { text: 'Look', attachments };
    await app.post('/v1/conversations', { agent: 'support', message });
    expect(app.calls[0]?.input).toMatchObject({ text: 'Look', attachments });
    const bytes = [{ type: 'image', source: { url: 'data:image/png;base64,AA' } }];
    const refused = await app.post('/v1/conversations', {
      agent: 'support',
      message: { text: 'Look', attachments: bytes },
    });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      errors: [{ path: '/message/attachments/0/source' }],
    });
    const beside = await app.post('/v1/conversations', {
      ...{ agent: 'support', message: { text: 'Look' }, attachments: bytes },
    });
    expect(await beside.json()).toMatchObject({ errors: [{ path: '/attachments/0/source' }] });
  });

  it.each<[string, object, string, string]>([
    ['without text', { message: {} }, '/message/text', 'is required'],
    ['with a blank text', { message: { text: ' ' } }, '/message/text', 'must not be blank'],
    [
      'with an unknown field',
      { message: { text: 'Hi', onBuzy: 'queue' } },
      '/message/onBuzy',
      'is not known here',
    ],
    [
      'with an actor in two places',
      { message: { text: 'Hi', actor: { id: 'a' } }, actor: { id: 'b' } },
      '/message/actor',
      'must not also be given beside the message',
    ],
  ])('%s is refused, naming the field', async (_what, fields, path, message) => {
    const app = await startHttpApp();
    const response = await app.post('/v1/conversations', { agent: 'support', ...fields });
    const { status, code, errors } = await problemOf(response);
    expect([status, code, errors]).toEqual([422, 'invalid_request', [{ path, message }]]);
    expect(app.calls).toEqual([]);
  });
});
