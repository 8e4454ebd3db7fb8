import { WorkflowNotFoundError } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import { createDeletions } from '../../../src/projection/duties/deletions.js';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { fakeTemporal } from '../../support/fakes/fake-temporal.js';
import { problemOf } from '../../support/samples/problems.js';
import { SUPPORT, sampleLog } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

/** A conversation that only the store still has: Temporal has removed it. */
async function anApp() {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const key = { tenant: 'default', conversationId: 'c-1' };
  await log.append({ ...key, runId: 'r', events: sampleLog('c-1', { closed: true }) });
  const reader = createStoreReader({ log, source: 'none' });
  const temporal = fakeTemporal({
    describe: () => {
      throw new WorkflowNotFoundError('not found', 'w', undefined);
    },
  });
  const client = new ConversationClient({
    temporal: temporal.client,
    agents: [SUPPORT],
    reader,
    deletions: createDeletions({ log }),
  });
  return await startHttpApp({}, { client, reader, conversations: log });
}

it('a conversation is deleted by DELETE, repeatedly if desired, and is a 404 from then on', async () => {
  const app = await anApp();
  const path = '/v1/conversations/c-1';
  for (let times = 0; times < 2; times += 1) {
    const response = await app.request(path, { method: 'DELETE' });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ deleted: true, conversationId: 'c-1' });
  }
  for (const gone of [path, `${path}/events`, `${path}/pending`, `${path}/events?before=end`])
    expect(await problemOf(await app.request(gone))).toMatchObject({
      status: 404,
      code: 'unknown_conversation',
    });
  const { conversations } = (await (await app.request('/v1/conversations')).json()) as {
    conversations: unknown[];
  };
  expect(conversations).toEqual([]);
});

it('a conversation that never existed is a 404, and a body with fields is refused by their names', async () => {
  const app = await anApp();
  const unknown = await app.request('/v1/conversations/never', { method: 'DELETE' });
  expect(await problemOf(unknown)).toMatchObject({ status: 404, code: 'unknown_conversation' });
  const withBody = await app.request('/v1/conversations/c-1', {
    method: 'DELETE',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ really: true }),
  });
  expect(await problemOf(withBody)).toMatchObject({ status: 422, code: 'invalid_request' });
  expect((await app.request('/v1/conversations/c-1')).status).toBe(200);
});

it('an API without an event log reports that it cannot delete', async () => {
  const app = await startHttpApp();
  const response = await app.request('/v1/conversations/c-1', { method: 'DELETE' });
  expect(await problemOf(response)).toMatchObject({ status: 503, code: 'store_unavailable' });
});
