/**
 * A server that speaks TLS for names that no resolver knows, and the certificate that makes it trusted; no other
 * trust store has that certificate.
 */
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** Made for these tests, and worthless elsewhere. For `localhost` and names under `test.invalid`. */
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg0k46L8oHbgH1r/k0
IcreqCgWzOTQcV9iwdeUL+Wx/YGhRANCAAQjf6CJtnrdKEJatR10/EXyKCQLBXDq
hP4pkyr4pSVpafs7pNkjlVY64q3bAKLbt4CRPKWQjmvixqI5s+9pVGoc
-----END PRIVATE KEY-----`;
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqzCCAVGgAwIBAgIUdlczMcsQS9kJmueUydQQ4Kvx8bYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjEwNTIyN1oYDzIxMjYxMDI5
MTA1MjI3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQjf6CJtnrdKEJatR10/EXyKCQLBXDqhP4pkyr4pSVpafs7pNkjlVY6
4q3bAKLbt4CRPKWQjmvixqI5s+9pVGoco38wfTAdBgNVHQ4EFgQUZchKOXVVp5Ob
++i59wapqdq5mi8wHwYDVR0jBBgwFoAUZchKOXVVp5Ob++i59wapqdq5mi8wDwYD
VR0TAQH/BAUwAwEB/zAqBgNVHREEIzAhgglsb2NhbGhvc3SCDioudGVzdC5pbnZh
bGlkhwR/AAABMAoGCCqGSM49BAMCA0gAMEUCIDhbxiPM02II95kc6nz6jqvWCYjn
1qRq1PdTxd/8RpT2AiEAqewEIbJgfFGNh/ttccYUto7PyRWo9bGCH5K6U/huFWA=
-----END CERTIFICATE-----`;

export interface TlsPeer extends AsyncDisposable {
  readonly port: number;
}

export async function startTlsPeer(answer: RequestListener): Promise<TlsPeer> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
