import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { Readable } from 'node:stream';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, it, onTestFinished } from 'vitest';

import { createWorkflowSource } from '../../../../src/projection/source/workflow-source.js';
import { promise } from '../../../support/promise.js';
import { KEY } from '../../../support/samples/log-events.js';

/** Accepts connections and never answers. */
async function aBlackHole(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('gives up on a server that never answers, for every kind of read', async () => {
  const connection = Connection.lazy({ address: await aBlackHole() });
  onTestFinished(async () => {
    await connection.close();
  });
  const source = createWorkflowSource(new Client({ connection }), { checkDeadlineMs: 200 });
  const before = performance.now();
  const listed = source.running?.()[Symbol.asyncIterator]();
  const results = await Promise.allSettled([
    source.describe(KEY),
    listed?.next(),
    source.events(KEY, { after: 0 }),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(performance.now() - before).toBeLessThan(2_500);
});

it('waits longer only for a query that can be given up, and gives that up at once', async () => {
  const connection = Connection.lazy({ address: await aBlackHole() });
  onTestFinished(async () => {
    await connection.close();
  });
  const client = new Client({ connection });
  const waits: number[] = [];
  // The query itself; the deadline of its caller is what counts.
  client.withDeadline = async (deadline) => {
    waits.push(Math.round((Number(deadline) - Date.now()) / 1_000));
    return await new Promise<never>(() => undefined);
  };
  const source = createWorkflowSource(client);
  const controller = new AbortController();
  void source.events(KEY, { after: 0 });
  void source.events(KEY, { after: 0, patient: true });
  const hanging = source.events(KEY, { after: 0, patient: true, signal: controller.signal });
  expect(waits).toEqual([1, 2, 4]);
  controller.abort();
  await expect(hanging).rejects.toThrow();
});

it('finds the state that a fork has restored behind any number of tries and inputs', {
  ...promise('G229'),
}, async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1' });
  onTestFinished(async () => {
    await connection.close();
  });
  const client = new Client({ connection });
  const payloadsOf = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });
  const carried = { version: 1, state: { lastSeq: 7 }, events: [] };
  const scheduled = (eventId: number, name: string) => ({
    ...{ eventId, activityTaskScheduledEventAttributes: { activityType: { name } } },
  });
  const completed = (scheduledEventId: number, value: unknown) => ({
    activityTaskCompletedEventAttributes: { scheduledEventId, result: payloadsOf(value) },
  });
  const inputs = Array.from({ length: 60 }, () => ({
    workflowExecutionSignaledEventAttributes: {},
  }));
  const first = {
    eventTime: { seconds: 1_900_000_000, nanos: 0 },
    workflowExecutionStartedEventAttributes: { input: payloadsOf({ fork: {} }) },
  };
  const pages = [
    [first, scheduled(5, 'restoreState'), ...inputs, scheduled(66, 'restoreState')],
    [...inputs, completed(66, carried), scheduled(200, 'flushLog'), completed(200, 'later')],
  ];
  client.workflowService.getWorkflowExecutionHistory = (async (request: {
    readonly nextPageToken?: Uint8Array;
  }) => {
    await Promise.resolve();
    const page = request.nextPageToken?.[0] ?? 0;
    const nextPageToken = page === 0 ? Uint8Array.of(1) : new Uint8Array();
    return { history: { events: pages[page] }, nextPageToken };
  }) as never;
  const source = createWorkflowSource(client);
  expect(await source.startOf?.(KEY, 'run-f')).toMatchObject({ carried });
});

it.each([
  ['colloquy', ` AND TaskQueue = 'colloquy'`],
  ['night shift', ` AND TaskQueue = 'night shift'`],
  // The server finds none of these by its filter.
  [`it's "one"`, ''],
  ['back\\slash', ''],
])(
  'lists the conversations of the task queue %s only',
  {
    ...promise('G374'),
  },
  async (taskQueue, filter) => {
    const connection = Connection.lazy({ address: '127.0.0.1:1' });
    onTestFinished(async () => {
      await connection.close();
    });
    const client = new Client({ connection });
    const queries: (string | undefined)[] = [];
    const runs = [
      { workflowId: 'conversation:default:other', taskQueue: 'another' },
      { workflowId: 'conversation:default:own', taskQueue },
    ];
    client.workflow.list = ((options: { readonly query?: string }) => {
      queries.push(options.query);
      return Readable.from(runs);
    }) as never;
    const source = createWorkflowSource(client, { taskQueue });
    for (const list of [source.running, source.closed, source.reported]) {
      const keys: unknown[] = [];
      for await (const key of list?.() ?? []) keys.push(key);
      expect(keys).toEqual([{ tenant: 'default', conversationId: 'own' }]);
    }
    expect(queries.map((query) => query?.endsWith(`'Running'${filter}`))).toEqual([
      true,
      false,
      true,
    ]);
    expect(queries[1]?.endsWith(`'Canceled')${filter}`)).toBe(true);
  },
);
