/** A conversation that the server runs but that cannot be read yet: it began while no worker was running. */
import { describe, expect, it } from 'vitest';
import { grpcError } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';
import { sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const BEGUN = {
  describe: () => ({ runId: 'run-1', status: { name: 'RUNNING' }, memo: { agent: 'support' } }),
};
const AWAY = {
  describe: () => {
    throw grpcError(14, 'no connection');
  },
};
const PATH = '/v1/conversations/c-1';

describe('a conversation whose first task no worker has taken', () => {
  it.each([PATH, `${PATH}/pending`, `${PATH}/rules`, `${PATH}/steps/s-1/tool-calls`])(
    'is not unknown to GET %s: the error says what is missing',
    promise('G4'),
    async (path) => {
      const app = await startHttpApp(BEGUN);
      const response = await app.request(path);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await response.json()).toMatchObject({
        code: 'no_worker',
        detail: expect.stringMatching(
          /^Conversation "c-1" is open, but nothing of it is stored yet, and no worker has returned its state\. .*npx colloquy worker/,
        ) as string,
      });
    },
  );

  it.each(['RUNNING', 'PAUSED'])('has an empty log while its run is %s', async (name) => {
    const app = await startHttpApp({
      describe: () => ({ ...BEGUN.describe(), status: { name } }),
    });
    const response = await app.request(`${PATH}/events`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      generation: 1,
      events: [],
      cursor: '1-0',
      more: false,
    });
  });

  it('can be followed, and shows all events once a worker has it', promise('G4'), async () => {
    const app = await startHttpApp(BEGUN);
    const leaving = new AbortController();
    const response = await app.request(`${PATH}/events`, {
      headers: { accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    app.reader.add('c-1', sampleLog('c-1'));
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk as Uint8Array);
      if (text.includes('turn_ended')) break;
    }
    leaving.abort();
    expect(text).toContain('id: 1-1\nevent: conversation_started');
  });

  it('is not reported as unknown while the server is unreachable, because that cannot be known', {
    ...promise('G4'),
  }, async () => {
    const app = await startHttpApp(AWAY);
    for (const path of [PATH, `${PATH}/pending`, `${PATH}/events`]) {
      const response = await app.request(path);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ code: 'temporal_unreachable' });
    }
  });

  it('is unknown once its run has ended without any event', async () => {
    const memo = { agent: 'support' };
    const app = await startHttpApp({
      describe: () => ({ runId: 'run-1', status: { name: 'TERMINATED' }, memo }),
    });
    for (const path of [PATH, `${PATH}/pending`, `${PATH}/events`])
      expect((await app.request(path)).status).toBe(404);
  });
});

describe('a conversation that closed while the store was down', () => {
  it('is known, and so is its log, which fills once it is stored', promise('G5'), async () => {
    const app = await startHttpApp({
      describe: () => ({ ...BEGUN.describe(), status: { name: 'COMPLETED' } }),
    });
    app.reader.unstored.set('c-1', sampleLog('c-1'));
    for (const path of [PATH, `${PATH}/pending`, `${PATH}/events`])
      expect((await app.request(path)).status).toBe(200);
    const accept = { accept: 'text/event-stream' };
    const opened = await app.request(`${PATH}/events`, { method: 'HEAD', headers: accept });
    expect(opened.status).toBe(200);
    app.reader.add('c-1', sampleLog('c-1'));
    const page: unknown = await (await app.request(`${PATH}/events`)).json();
    expect(page).toMatchObject({ events: sampleLog('c-1') });
  });

  it('is unknown when none of its runs has any events', promise('G5'), async () => {
    const app = await startHttpApp({
      describe: () => ({ ...BEGUN.describe(), status: { name: 'COMPLETED' } }),
    });
    expect((await app.request(`${PATH}/events`)).status).toBe(404);
  });
});

describe('a refusal names its field once', () => {
  it('of a header', async () => {
    const app = await startHttpApp();
    app.reader.add('c-1', sampleLog('c-1'));
    const key = { 'idempotency-key': 'k'.repeat(201) };
    const response = await app.post(`${PATH}/messages`, { text: 'Hi' }, key);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      detail: 'Idempotency-Key must be at most 200 characters, got 201',
      errors: [{ path: 'Idempotency-Key' }],
    });
  });

  it('or concerns the body as a whole', async () => {
    const app = await startHttpApp();
    const response = await app.post('/v1/conversations', []);
    expect(await response.json()).toMatchObject({
      detail: 'The body breaks a rule: it must be an object',
    });
  });

  it('of a path below a prefix', async () => {
    const app = await startHttpApp({}, { codec: { codecs: [], origins: [] } });
    const response = await app.request('/codec/decode');
    expect(await response.json()).toMatchObject({
      detail: 'GET is not possible on /codec/decode. Allowed: POST, OPTIONS',
    });
  });
});
