import { describe, expect, it } from 'vitest';
import { startHttpApp } from '../support/http-app.js';
import { TURN } from '../support/sample-log.js';

const REPLY = { turnId: TURN, messageId: 'm_1', seq: 2, ahead: 0 };

describe('the first message of a conversation may be an object, as later ones are', () => {
  it('with what is said of it', async () => {
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

  it('or beside it', async () => {
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
      'is given beside the message already',
    ],
  ])('%s it is refused, naming the field', async (_what, fields, path, message) => {
    const app = await startHttpApp();
    const response = await app.post('/v1/conversations', { agent: 'support', ...fields });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      errors: [{ path, message }],
    });
    expect(app.calls).toEqual([]);
  });
});
