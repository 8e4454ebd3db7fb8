import { describe, expect, it, vi } from 'vitest';
import { grpcError, noAnswer, refusal } from '../../support/fakes/fake-temporal.js';
import { problemOf } from '../../support/samples/problems.js';
import { CALL, sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const RESOLUTION = `/v1/conversations/c-1/tool-calls/${CALL}/resolution`;

describe('addresses', () => {
  it.each([
    ['GET', '/v1/nothing', 404, 'not_found'],
    ['GET', '/', 404, 'not_found'],
    ['GET', '/v1/conversations/%zz', 404, 'not_found'],
    ['GET', '/v1/conversations/unknown', 404, 'unknown_conversation'],
    ['GET', '/v1/conversations/a%3Ab', 404, 'unknown_conversation'],
    ['GET', '/v1/conversations/unknown/pending', 404, 'unknown_conversation'],
    ['GET', '/v1/conversations/unknown/events', 404, 'unknown_conversation'],
    ['GET', '/v1/turns/unknown', 404, 'unknown_turn'],
    ['PUT', '/v1/conversations', 405, 'method_not_allowed'],
    ['DELETE', '/v1/agents', 405, 'method_not_allowed'],
    ['GET', RESOLUTION, 405, 'method_not_allowed'],
  ])('%s %s is answered %d %s', async (method, path, status, code) => {
    const app = await startHttpApp();
    expect(await problemOf(await app.request(path, { method }))).toMatchObject({ status, code });
  });

  it('a wrong method gets an error with the right ones', async () => {
    const app = await startHttpApp();
    const allow = async (path: string): Promise<string | null> =>
      (await app.request(path, { method: 'PATCH' })).headers.get('allow');
    expect(await allow('/v1/conversations')).toBe('GET, HEAD, POST, OPTIONS');
    expect(await allow('/v1/conversations/c-1/messages')).toBe('POST, OPTIONS');
    const options = { method: 'OPTIONS' };
    expect((await app.request('/v1/agents', options)).status).toBe(204);
    const stream = await app.request('/v1/conversations/stream', options);
    expect(stream.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it.each([
    ['/v1/conversations?status=asleep', '?status'],
    ['/v1/conversations?limit=0', '?limit'],
    ['/v1/conversations?limit=1e3', '?limit'],
    ['/v1/conversations?limit=1001', '?limit'],
    ['/v1/worklist?limit=1001', '?limit'],
    ['/v1/conversations?colour=red', '?colour'],
    ['/v1/conversations?a[b]=c', '?a[b]'],
    ['/v1/conversations/c-1/events?after=12', '?after'],
    ['/v1/conversations/c-1/events?after=1-2&after=1-3', '?after'],
    ['/v1/turns/t?timeout=soon', '?timeout'],
    ['/v1/turns/t?timeout=31s', '?timeout'],
    ['/v1/turns/t?timeout=20', '?timeout'],
    ['/v1/turns/t?wait=soon', '?wait'],
    ['/v1/turns/t?wait=31s', '?wait'],
    ['/v1/turns/t?wait=1s&timeout=1s', '?timeout'],
  ])('the query of %s is refused, naming %s', async (path, parameter) => {
    const app = await startHttpApp();
    app.reader.add('c-1', sampleLog('c-1'));
    const problem = await problemOf(await app.request(path));
    expect(problem).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(problem.errors?.map((error) => error.path)).toEqual([parameter]);
  });

  it.each([
    ['without an agent', {}],
    ['with an agent', { agent: 'support' }],
  ])(
    'a message to an unknown conversation, %s, starts none and gets an error with the way to create one',
    async (_how, agent) => {
      const app = await startHttpApp();
      const problem = await problemOf(
        await app.post('/v1/conversations/nope/messages', { text: 'Hi', ...agent }),
      );
      expect(problem).toMatchObject({ status: 404, code: 'unknown_conversation' });
      expect(problem.detail).toBe('No conversation "nope". Create one with POST /v1/conversations');
      expect(app.calls.map(({ kind }) => kind)).toEqual(['describe']);
    },
  );

  it('a message to a known conversation reads the store for its agent, and for whether it is closed', async () => {
    const reply = { turnId: 't', messageId: 'm', seq: 9, ahead: 0 };
    const app = await startHttpApp({ updateWithStart: () => reply });
    app.reader.add('c-1', sampleLog('c-1'));
    const reads = vi.spyOn(app.reader, 'snapshot');
    const sent = await app.post('/v1/conversations/c-1/messages', { text: 'Hi' });
    expect(sent.status).toBe(202);
    expect(reads).toHaveBeenCalledTimes(2);
  });

  it('an invalid wait or timeout is refused', async () => {
    const app = await startHttpApp();
    app.reader.add('c-1', sampleLog('c-1'));
    const path = '/v1/conversations/c-1/messages';
    expect((await app.post(`${path}?wait=yes`, { text: 'Hi' })).status).toBe(422);
    expect((await app.post(`${path}?timeout=5s`, { text: 'Hi' })).status).toBe(422);
    expect((await app.post(`${path}?wait=result&timeout=1m`, { text: 'Hi' })).status).toBe(422);
    expect(app.calls).toEqual([]);
  });
});

describe('failures behind the API', () => {
  it.each([
    ['busy', 409, null],
    ['queue_full', 429, '1'],
    ['conversation_closed', 410, null],
    ['agent_mismatch', 409, null],
  ])('a refusal %s of the conversation is answered %d', async (code, status, retryAfter) => {
    const app = await startHttpApp({
      updateWithStart: () => {
        throw refusal(code, { message: 'because' });
      },
    });
    app.reader.add('c-1', sampleLog('c-1'));
    const response = await app.post('/v1/conversations/c-1/messages', { text: 'Hi' });
    expect(response.headers.get('retry-after')).toBe(retryAfter);
    expect(await problemOf(response)).toMatchObject({ status, code, detail: 'because' });
  });

  it('an unreachable server is a 503 with its address', async () => {
    const app = await startHttpApp({
      updateWithStart: () => {
        throw noAnswer();
      },
      signalWithStart: () => {
        throw grpcError(14, 'refused');
      },
    });
    const response = await app.post('/v1/conversations', { agent: 'support', message: 'Hi' });
    const problem = await problemOf(response);
    expect(problem).toMatchObject({ status: 503, code: 'temporal_unreachable' });
    expect(problem.detail).toContain('127.0.0.1:7233');
    expect(response.headers.get('retry-after')).toBe('1');
  });

  it('an unexpected error reveals none of its text, and is logged', async () => {
    const app = await startHttpApp({
      updateWithStart: () => {
        throw new TypeError('secret at /srv/app/password.txt');
      },
    });
    const response = await app.post('/v1/conversations', { agent: 'support', message: 'Hi' });
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toContain('secret');
    expect(text).not.toContain(' at ');
    expect(
      JSON.stringify(app.logged.map((line) => ('err' in line ? String(line.err) : ''))),
    ).toContain('secret');
    expect((await app.request('/healthz')).status).toBe(200);
  });
});
