import { describe, expect, it } from 'vitest';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { JSON_TYPE, problemOf } from '../../support/samples/problems.js';
import { CALL, sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

const RESOLUTION = `/v1/conversations/c-1/tool-calls/${CALL}/resolution`;

describe('a body that breaks a rule is refused by its route, with the field and the rule', () => {
  const over = 'x'.repeat(262_145);
  it.each<[string, string, unknown, number, string, [string, string][]]>([
    [
      'no agent',
      '/v1/conversations',
      { message: 'Hi' },
      422,
      'invalid_request',
      [['/agent', 'is required']],
    ],
    [
      'an unknown agent',
      '/v1/conversations',
      { agent: 'nobody', message: 'Hi' },
      404,
      'unknown_agent',
      [['/agent', 'Known agents: support, sales']],
    ],
    [
      'no message',
      '/v1/conversations',
      { agent: 'support' },
      422,
      'invalid_request',
      [['/message', 'is required: a conversation begins with its first message']],
    ],
    [
      'an empty message',
      '/v1/conversations',
      { agent: 'support', message: '' },
      422,
      'invalid_request',
      [['/message', 'must not be blank']],
    ],
    [
      'a message of the wrong type',
      '/v1/conversations',
      { agent: 'support', message: 5 },
      422,
      'invalid_request',
      [['/message', 'must be a string']],
    ],
    [
      'a message over 256 KiB',
      '/v1/conversations',
      { agent: 'support', message: over },
      422,
      'invalid_request',
      [['/message', 'must be at most 262144 bytes in UTF-8, got 262145']],
    ],
    [
      'an id with a colon',
      '/v1/conversations',
      { agent: 'support', id: 'a:b', message: 'Hi' },
      422,
      'invalid_request',
      [['/id', 'may hold only letters, digits, "_", "." and "-"']],
    ],
    [
      'a misspelt field',
      '/v1/conversations',
      { agent: 'support', mesage: 'Hi', message: 'Hi' },
      422,
      'invalid_request',
      [['/mesage', 'is not known here']],
    ],
    [
      'an unknown field of the actor',
      '/v1/conversations',
      { agent: 'support', message: 'Hi', actor: { id: 'a', admin: true } },
      422,
      'invalid_request',
      [['/actor/admin', 'is not known here']],
    ],
    [
      'a blank text',
      '/v1/conversations/c-1/messages',
      { text: ' ' },
      422,
      'invalid_request',
      [['/text', 'must not be blank']],
    ],
    [
      'no text',
      '/v1/conversations/c-1/messages',
      {},
      422,
      'invalid_request',
      [['/text', 'is required']],
    ],
    [
      'an unknown onBusy',
      '/v1/conversations/c-1/messages',
      { text: 'Hi', onBusy: 'wait' },
      422,
      'invalid_request',
      [['/onBusy', 'must be "reject" or "queue" or "interrupt" or "steer"']],
    ],
    [
      'an array',
      '/v1/conversations/c-1/messages',
      [1],
      422,
      'invalid_request',
      [['', 'must be an object']],
    ],
    [
      'a bare number',
      '/v1/conversations/c-1/cancel',
      7,
      422,
      'invalid_request',
      [['', 'must be an object']],
    ],
    [
      'a reason over 2000 characters',
      '/v1/conversations/c-1/cancel',
      { reason: 'x'.repeat(2001) },
      422,
      'invalid_request',
      [['/reason', 'must have at most 2000 characters']],
    ],
    [
      'a field that close does not have',
      '/v1/conversations/c-1/close',
      { force: true },
      422,
      'invalid_request',
      [['/force', 'is not known here']],
    ],
    [
      'an empty resolution',
      RESOLUTION,
      {},
      422,
      'invalid_request',
      [['/resolution', 'is required']],
    ],
    [
      'a resolution of an unknown type',
      RESOLUTION,
      { resolution: { type: 'aprove' } },
      422,
      'invalid_request',
      [
        [
          '/resolution/type',
          'must be one of approve, deny, answer, decline, result, error, outcome',
        ],
      ],
    ],
    [
      'a bare resolution of an unknown type',
      RESOLUTION,
      { type: 'aprove' },
      422,
      'invalid_request',
      [['/type', 'must be one of approve, deny, answer, decline, result, error, outcome']],
    ],
    [
      'a denial with edited input',
      RESOLUTION,
      { resolution: { type: 'deny', input: {} } },
      422,
      'invalid_request',
      [['/resolution/input', 'is not known here']],
    ],
    [
      'an answer without a value',
      RESOLUTION,
      { resolution: { type: 'answer' } },
      422,
      'invalid_request',
      [['/resolution/value', 'is required']],
    ],
  ])('%s', async (_what, path, body, status, code, errors) => {
    const app = await startHttpApp();
    app.reader.add('c-1', sampleLog('c-1'));
    const problem = await problemOf(await app.post(path, body));
    expect(problem).toMatchObject({ status, code });
    expect((problem.errors ?? []).map((error) => [error.path, error.message])).toEqual(errors);
    expect(app.calls).toEqual([]);
  });

  it('a wrong resolution gets the verdict "invalid", as from the conversation', async () => {
    const app = await startHttpApp();
    const response = await app.post(RESOLUTION, { type: 'answer' });
    expect(await response.json()).toMatchObject({
      verdict: 'invalid',
      problems: [{ path: '/value', message: 'is required' }],
    });
  });
});

describe('hostile JSON', () => {
  it('that nests a hundred thousand levels is an invalid answer and does not end the process', async () => {
    const app = await startHttpApp();
    const value = '['.repeat(100_000) + ']'.repeat(100_000);
    const body = `{"type":"answer","value":${value}}`;
    const response = await app.request(RESOLUTION, { method: 'POST', headers: JSON_TYPE, body });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ verdict: 'invalid' });
    const message = `{"agent":"support","message":${value}}`;
    const other = await app.request('/v1/conversations', {
      method: 'POST',
      headers: JSON_TYPE,
      body: message,
    });
    expect(other.status).toBe(422);
    expect((await app.request('/healthz')).status).toBe(200);
  });

  it('with a key "__proto__" is refused or harmless', async () => {
    const app = await startHttpApp();
    const body = '{"agent":"support","message":"Hi","__proto__":{"reopen":true}}';
    const response = await app.request('/v1/conversations', {
      method: 'POST',
      headers: JSON_TYPE,
      body,
    });
    expect(response.status).toBe(422);
  });
});

it('an invalid list cursor is refused as a query parameter, by the store', async () => {
  const conversations = await openSqliteEventLog({ file: ':memory:' });
  const app = await startHttpApp({}, { conversations });
  const problem = await problemOf(await app.request('/v1/conversations?cursor=abc'));
  expect([problem.status, problem.code, problem.errors]).toEqual([
    422,
    'invalid_request',
    [{ path: '?cursor', message: 'must be the nextCursor of an earlier page' }],
  ]);
  await conversations.close();
});

it.each<[string, string, object]>([
  ['/lease', 'claim', { lease: true }],
  ['/by', 'extend', { by: [] }],
])('%s that is not a duration is refused with the expected form', async (path, route, body) => {
  const app = await startHttpApp();
  const to = `/v1/conversations/c-1/tool-calls/${CALL}/${route}`;
  const problem = await problemOf(await app.post(to, body));
  expect([problem.status, problem.errors]).toEqual([
    422,
    [{ path, message: 'must be milliseconds or a duration such as "5 minutes"' }],
  ]);
});

it.each<[string, string, object]>([
  ['message', '/v1/conversations', { agent: 'support', message: ' ' }],
  ['message/text', '/v1/conversations', { agent: 'support', message: { text: ' ' } }],
  ['text', '/v1/conversations/c-1/messages', { text: ' ' }],
  ['text', '/v1/conversations/c-1/messages', { text: ' ', agent: 'support' }],
])('a blank text is reported by its name in the body: %s', async (field, path, body) => {
  const app = await startHttpApp();
  app.reader.add('c-1', sampleLog('c-1'));
  const { detail, errors } = await problemOf(await app.post(path, body));
  expect(detail).toBe(`${field} must not be blank`);
  expect(errors).toEqual([{ path: `/${field}`, message: 'must not be blank' }]);
});
