/** The error when the Temporal server does not answer: "start one" helps only where no process listens. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientConnection, connectClient } from '../../../../src/client/temporal/connection.js';
import { TemporalGateway } from '../../../../src/client/temporal/temporal-gateway.js';
import { isRefusal, listeningAt } from '../../../../src/client/workers/listening.js';
import { promise } from '../../../support/promise.js';

/** Accepts connections and never answers, as a stopped process does. */
async function silentServer(): Promise<{ readonly address: string; readonly server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    onTestFinished(() => {
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function freeAddress(): Promise<string> {
  const { address, server } = await silentServer();
  await new Promise((resolve) => server.close(resolve));
  return address;
}

function gatewayTo(address: string): TemporalGateway {
  const connection = Connection.lazy(
    clientConnection({ address, namespace: 'default', options: {} }),
  );
  onTestFinished(() => connection.close());
  const temporal = new Client({ connection });
  return new TemporalGateway({ temporal, taskQueue: 'q', searchAttributes: false });
}

async function saidBy(gateway: TemporalGateway): Promise<string> {
  try {
    await gateway.ping();
  } catch (error) {
    return gateway.toConversationError(error).message;
  }
  throw new Error('the server answered');
}

describe('the listener at an address', () => {
  it('is found, absent, or not known', async () => {
    expect(await listeningAt((await silentServer()).address)).toBe('something');
    expect(await listeningAt(await freeAddress())).toBe('nothing');
    expect(await listeningAt(`http://${await freeAddress()}`)).toBe('nothing');
    expect(await listeningAt('no-port')).toBe('unknown');
    expect(await listeningAt('no.such.host.invalid:7233')).toBe('unknown');
  });

  it('is recognised by errors of Node and of Temporal’s native client', () => {
    const refused = new Error('connect ECONNREFUSED 127.0.0.1:7233');
    expect(isRefusal(refused)).toBe(true);
    expect(isRefusal(new Error('failed', { cause: new AggregateError([refused]) }))).toBe(true);
    expect(isRefusal(new Error('tcp connect error: Connection refused (os error 111)'))).toBe(true);
    expect(isRefusal(new Error('Deadline exceeded'))).toBe(false);
    expect(isRefusal('ECONNREFUSED')).toBe(false);
  });
});

describe('a server that does not answer', () => {
  it('is to be started where no process listens, and only there', promise('G245'), async () => {
    const { address } = await silentServer();
    const nothing = await freeAddress();
    const [said, silent] = await Promise.all([
      saidBy(gatewayTo(nothing)),
      saidBy(gatewayTo(address)),
    ]);
    expect(said).toContain(`No Temporal server listens at ${nothing}. Start one with`);
    expect(silent).toContain(`at ${address} did not answer in time`);
    expect(silent).not.toContain('Start one');
  });

  it('is distinguished at the start of a process, too', promise('G245'), async () => {
    const policy = {
      retryForMs: 0,
      logger: { debug: noop, info: noop, warn: noop, error: noop },
    };
    const connect = (address: string, options = {}) =>
      connectClient({ address, namespace: 'default', options }, policy);
    const { address } = await silentServer();
    const nothing = await freeAddress();
    // Each takes the whole time of a connect.
    await Promise.all([
      expect(connect(nothing)).rejects.toThrow('Start one:'),
      expect(connect(address)).rejects.toThrow(
        /although something listens there: (?!.*Start).*want TLS \(TEMPORAL_TLS=true\)/,
      ),
      expect(connect(address, { tls: { serverNameOverride: 'localhost' } })).rejects.toThrow(
        /although something listens there: (?!.*Start).*speak no TLS/,
      ),
    ]);
  });
});

function noop(): void {
  // No caller gets this error.
}
