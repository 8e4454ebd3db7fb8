/** A proxy that forwards, and tunnels; it requires no password, and records the one that it got. */
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Requests and tunnels, by method and target. */
  readonly seen: readonly string[];
  /** Their `proxy-authorization`. */
  readonly keys: readonly unknown[];
  /** Bytes of the tunnels, read as Latin-1. */
  readonly tunnelled: () => string;
}

/** `refusal`: of tunnels, as a status line. Every name means this machine. */
export async function startProxy(refusal?: string): Promise<Proxy> {
  const seen: string[] = [];
  const keys: unknown[] = [];
  const sockets = new Set<Socket>();
  let passed = '';
  const proxy = createServer((request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
    keys.push(request.headers['proxy-authorization']);
    response.writeHead(200, { 'content-type': 'application/json' }).end('"by proxy"');
  });
  proxy.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url ?? ''}`);
    keys.push(request.headers['proxy-authorization']);
    socket.on('error', () => undefined);
    if (refusal !== undefined) {
      socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
      return;
    }
    const port = Number((request.url ?? '').split(':').at(-1));
    const up = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.on('data', (chunk: Buffer) => {
        passed += chunk.toString('latin1');
      });
      up.pipe(socket).pipe(up);
    });
    up.on('error', () => undefined);
  });
  proxy.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    keys,
    tunnelled: () => passed,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        proxy.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
