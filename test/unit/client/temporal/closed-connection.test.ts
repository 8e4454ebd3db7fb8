/** A connection may be closed while the SDK is about to repeat a call: the call ends, and the process continues. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { clientConnection } from '../../../../src/client/temporal/connection.js';
import { freePort } from '../../../support/servers/dev-server.js';

it('a call that is about to be repeated when its connection is closed ends as cancelled, and throws nowhere else', async () => {
  const thrown: unknown[] = [];
  const keep = (error: unknown): void => {
    thrown.push(error);
  };
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', keep);
  onTestFinished(() => {
    process.off('uncaughtException', keep);
    for (const listener of others) process.on('uncaughtException', listener);
  });
  // No process listens there, so each attempt is refused at once and repeated after some 100 ms.
  const address = `127.0.0.1:${await freePort()}`;
  const settings = { address, namespace: 'default', options: {} };
  const connection = Connection.lazy(clientConnection(settings));
  const call = connection.workflowService.describeNamespace({ namespace: 'default' });
  const ended = expect(call).rejects.toMatchObject({ code: 1 });
  await sleep(150);
  await connection.close();
  await ended;
  await sleep(300);
  expect(thrown).toEqual([]);
});
