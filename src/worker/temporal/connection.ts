/** Connects a worker to Temporal. */
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import {
  type ConnectPolicy,
  retrying,
  type TemporalSettings,
} from '../../client/temporal/connection.js';
import { isLoopbackName, nameOfHost } from '../../net/hosts.js';

/** @throws {TemporalUnreachable} when the time for retries is over. */
export async function connectNative(
  settings: TemporalSettings,
  policy: ConnectPolicy,
): Promise<NativeConnection> {
  const native = nativeConnection(settings);
  return retrying(settings, policy, () => NativeConnection.connect(native));
}

/**
 * Connection options of a worker. To a server on the same machine without gzip, which costs CPU on both sides and saves
 * nothing there.
 */
export function nativeConnection({ address, options }: TemporalSettings): NativeConnectionOptions {
  const { tls, apiKey, metadata } = options as Pick<
    NativeConnectionOptions,
    'tls' | 'apiKey' | 'metadata'
  >;
  return {
    address,
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(isOnLoopback(address) ? { grpcCompression: { codec: 'none' } } : {}),
  };
}

/** `address` is `host:port`, optionally with a scheme. */
function isOnLoopback(address: string): boolean {
  return isLoopbackName(nameOfHost(address.replace(/^https?:\/\//, '')) ?? '');
}
