import { expect, it } from 'vitest';
import { clientConnection } from '../../../src/worker/temporal.js';

const SETTINGS = { address: '127.0.0.1:7233', namespace: 'default' };

it('a client looks for a server that was away every two seconds, however long it was away', () => {
  expect(clientConnection({ ...SETTINGS, options: {} })).toMatchObject({
    address: '127.0.0.1:7233',
    channelArgs: { 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
});

it('what the environment says of the channel wins', () => {
  const channelArgs = { 'grpc.max_reconnect_backoff_ms': 500, 'grpc.keepalive_time_ms': 1 };
  expect(clientConnection({ ...SETTINGS, options: { channelArgs } }).channelArgs).toEqual(
    channelArgs,
  );
});
