/** A client that connects asks at once whether the server answers, and whether it has the namespace. */
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connectClient } from '../../../../src/client/temporal/connection.js';

const GRPC = { ok: 0, notFound: 5, permissionDenied: 7, unauthenticated: 16 };

/** A server that answers no request before all of them have come. */
async function serverOf(statuses: Readonly<Record<string, number>>): Promise<string> {
  const waiting = new Map<string, ServerHttp2Stream>();
  const server = createServer();
  server.on('stream', (stream, { ':path': path = '' }) => {
    waiting.set(path.split('/').at(-1) ?? '', stream);
    if (Object.keys(statuses).some((method) => !waiting.has(method))) return;
    for (const [method, status] of Object.entries(statuses)) answer(waiting.get(method), status);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers with an empty message, or with an error. */
function answer(stream: ServerHttp2Stream | undefined, status: number): void {
  const head = { ':status': 200, 'content-type': 'application/grpc' };
  if (status !== GRPC.ok) {
    stream?.respond({ ...head, 'grpc-status': status }, { endStream: true });
    return;
  }
  stream?.respond(head, { waitForTrailers: true });
  stream?.on('wantTrailers', () => {
    stream.sendTrailers({ 'grpc-status': status });
  });
  stream?.end(Buffer.alloc(5));
}

async function connectTo(DescribeNamespace: number, GetSystemInfo = GRPC.ok): Promise<void> {
  const address = await serverOf({ GetSystemInfo, DescribeNamespace });
  const policy = { retryForMs: 0, logger: { warn: () => undefined } };
  const client = await connectClient({ address, namespace: 'sales', options: {} }, policy);
  await client.connection.close();
}

it('sends both requests together, so that a server that is slow costs one deadline', async () => {
  await connectTo(GRPC.ok);
});

it('names a namespace that the server does not have, and the command that creates it', async () => {
  await expect(connectTo(GRPC.notFound)).rejects.toThrow(
    /has no namespace "sales"\. Create it: npx colloquy temporal operator namespace create -n sales/,
  );
});

it('connects with credentials that may not describe their namespace', async () => {
  await connectTo(GRPC.permissionDenied);
});

it.each([
  ['no known credentials', GRPC.unauthenticated],
  ['credentials without permission', GRPC.permissionDenied],
])('names the variables of the credentials, if the server finds %s', async (_title, status) => {
  await expect(connectTo(status, status)).rejects.toThrow(
    /^The Temporal server at 127\.0\.0\.1:\d+ refuses this client \(.*\)\. TEMPORAL_API_KEY, or the certificate/,
  );
});
