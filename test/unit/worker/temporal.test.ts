import { expect, it } from 'vitest';
import { clientConnection } from '../../../src/client/temporal/connection.js';
import { nativeConnection } from '../../../src/worker/temporal/connection.js';

const SETTINGS = { address: '127.0.0.1:7233', namespace: 'default' };

it('a client retries a server that was away every two seconds, after any time', () => {
  expect(clientConnection({ ...SETTINGS, options: {} })).toMatchObject({
    address: '127.0.0.1:7233',
    channelArgs: { 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
});

it("the environment's settings of the channel win", () => {
  const channelArgs = { 'grpc.max_reconnect_backoff_ms': 500, 'grpc.keepalive_time_ms': 1 };
  expect(clientConnection({ ...SETTINGS, options: { channelArgs } }).channelArgs).toEqual(
    channelArgs,
  );
});

it.each([
  ['127.0.0.1:7233', true],
  ['localhost:7233', true],
  ['[::1]:7233', true],
  ['http://127.0.0.9:7233', true],
  ['10.0.0.5:7233', false],
  ['temporal.example.com:7233', false],
  ['localhost.example.com:7233', false],
  ['127.0.0.1.example.com', false],
])('a worker does not compress payloads that stay on its machine: %s', (address, isPlain) => {
  const { grpcCompression } = nativeConnection({ ...SETTINGS, address, options: {} });
  expect(grpcCompression).toEqual(isPlain ? { codec: 'none' } : undefined);
});
