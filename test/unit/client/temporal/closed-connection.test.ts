/** A connection may be closed while the SDK begins or is about to repeat a call: the call ends, and the process continues. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { clientConnection } from '../../../../src/client/temporal/connection.js';
import { freePort } from '../../../support/servers/dev-server.js';

/** Errors that no caller could catch, from now to the end of the test. */
function uncaught(): readonly unknown[] {
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
  return thrown;
}

/** No process listens there, so each attempt is refused at once and repeated after some 100 ms. */
async function refusedConnection(): Promise<Connection> {
  const address = `127.0.0.1:${await freePort()}`;
  return Connection.lazy(clientConnection({ address, namespace: 'default', options: {} }));
}

const describeWith = ({ workflowService }: Connection): Promise<unknown> =>
  workflowService.describeNamespace({ namespace: 'default' });

it('a call that is about to be repeated when its connection is closed ends as cancelled, and throws nowhere else', async () => {
  const thrown = uncaught();
  const connection = await refusedConnection();
  const ended = expect(describeWith(connection)).rejects.toMatchObject({ code: 1 });
  await sleep(150);
  await connection.close();
  await ended;
  await sleep(300);
  expect(thrown).toEqual([]);
});

it('a call that begins after its connection was closed ends as cancelled, and throws nowhere else', async () => {
  const thrown = uncaught();
  const connection = await refusedConnection();
  await connection.close();
  await expect(describeWith(connection)).rejects.toMatchObject({ code: 1 });
  await sleep(50);
  expect(thrown).toEqual([]);
});
