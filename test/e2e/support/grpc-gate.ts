/**
 * A gate between workers and the Temporal server: a gRPC proxy that can hold one call, either its request, so that the
 * server never receives it, or its reply, so that the caller never receives it. A process killed in between was
 * therefore killed at exactly that point.
 */
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { until } from '../../support/until.js';

export interface GatedCall {
  /** For instance `RespondWorkflowTaskCompleted`. */
  readonly method: string;
  /** The request as sent, one character for each byte, so that it can be searched for text. */
  readonly body: string;
}

export interface Held {
  /** Resolves when such a call is held. @throws when none arrives */
  readonly met: Promise<void>;
  /** Forwards all held calls, and holds no more. */
  release(): void;
  /**
   * Holds no more calls, and discards the held ones: for a caller that was killed. (After a `release` a request is
   * still forwarded until the gate sees that its caller's socket is closed, which on a busy machine is after the end of
   * that process.)
   */
  drop(): void;
}

export interface GrpcGate {
  /** `127.0.0.1:<port>`, to be used as the address of the server. */
  readonly address: string;
  /** Holds every matching call from now on; `side` selects its request or its reply. */
  hold(side: 'request' | 'reply', wanted: (call: GatedCall) => boolean): Held;
  close(): Promise<void>;
}

interface Hold {
  readonly side: 'request' | 'reply';
  readonly wanted: (call: GatedCall) => boolean;
  /** Whether the held call is forwarded. */
  readonly over: Promise<boolean>;
  isMet: boolean;
}

const PATIENCE_MS = 60_000;
/** A gRPC message prefix: a compression flag and the length. */
const FRAME_BYTES = 5;
/** Large enough for a history with large payloads. */
const WINDOW_BYTES = 16 * 1_048_576;
const SETTINGS = { initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: 1_000 };

export async function startGrpcGate(serverAddress: string): Promise<GrpcGate> {
  const holds = new Set<Hold>();
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: SETTINGS });
  server.on('session', (session) => {
    const upstream = connect(`http://${serverAddress}`, { settings: SETTINGS });
    sessions.add(session);
    // Broken connections on either side are part of the tests.
    session.on('error', () => undefined);
    upstream.on('error', () => undefined);
    upstream.once('close', () => {
      session.destroy();
    });
    session.once('close', () => {
      sessions.delete(session);
      upstream.destroy();
    });
    session.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      void relay(stream, headers, { upstream, holds }).catch(() => {
        stream.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    hold: (side, wanted) => {
      let end = (_continues: boolean): void => undefined;
      const over = new Promise<boolean>((resolve) => {
        end = resolve;
      });
      const hold: Hold = { side, wanted, over, isMet: false };
      holds.add(hold);
      const met = until(`a ${side} is held`, () => hold.isMet, { timeoutMs: PATIENCE_MS });
      met.catch(() => undefined);
      const finish = (continues: boolean): void => {
        holds.delete(hold);
        end(continues);
      };
      return {
        met: met.then(() => undefined),
        release: () => {
          finish(true);
        },
        drop: () => {
          finish(false);
        },
      };
    },
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}

async function relay(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { upstream, holds }: { readonly upstream: ClientHttp2Session; readonly holds: Set<Hold> },
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const call = { method: headers[':path']?.split('/').at(-1) ?? '', body: textOf(body) };
  const held = [...holds].filter(({ wanted }) => wanted(call));
  const wait = async (side: Hold['side']): Promise<void> => {
    for (const hold of held) {
      if (hold.side !== side) continue;
      hold.isMet = true;
      if (!(await hold.over)) stream.destroy();
    }
  };
  await wait('request');
  if (stream.destroyed || upstream.destroyed) return;
  const { ':authority': _authority, ...sent } = headers;
  const answered = upstream.request(sent);
  answered.on('error', () => {
    stream.destroy();
  });
  stream.once('close', () => {
    answered.close();
  });
  answered.end(body);
  forward(answered, stream, () => wait('reply'));
}

/** A gRPC reply: headers, messages, and its status in the trailers; or only headers with its status. */
function forward(
  answered: ReturnType<ClientHttp2Session['request']>,
  stream: ServerHttp2Stream,
  before: () => Promise<void>,
): void {
  let trailers: IncomingHttpHeaders = {};
  let gate: Promise<void> | undefined;
  answered.on('trailers', (received: IncomingHttpHeaders) => {
    trailers = received;
  });
  answered.on('response', (received, flags) => {
    const isAll = 'grpc-status' in received || (flags & 1) === 1;
    gate = before().then(() => {
      if (stream.destroyed) return;
      stream.respond(received, isAll ? { endStream: true } : { waitForTrailers: true });
    });
  });
  stream.on('wantTrailers', () => {
    stream.sendTrailers(trailers);
  });
  answered.on('data', (chunk: Buffer) => {
    void gate?.then(() => stream.destroyed || stream.write(chunk));
  });
  answered.on('end', () => {
    void gate?.then(() => stream.destroyed || stream.writableEnded || stream.end());
  });
}

function textOf(body: Buffer): string {
  const message = body.subarray(FRAME_BYTES);
  return (body[0] === 1 ? gunzipSync(message) : message).toString('latin1');
}
