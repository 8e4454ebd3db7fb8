/**
 * Records the bytes of a connection to a server on the wire, because servers report only their own reading of them.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Tapped {
  /** Address of the origin alone. */
  readonly url: string;
  /** JSON bodies of the requests, oldest first. */
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
}

/** Forwards requests to the origin, and its responses to the client. Ends with the test. */
export async function tapped(origin: string): Promise<Tapped> {
  const bodies: Readonly<Record<string, unknown>>[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      bodies.push(JSON.parse(body) as Readonly<Record<string, unknown>>);
      const answer = await fetch(`${origin}${request.url ?? ''}`, {
        method: request.method ?? 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer any' },
        body,
      });
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'text/plain',
      });
      for await (const piece of answer.body ?? []) response.write(piece);
      response.end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}
