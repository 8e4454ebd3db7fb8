/** Requests to every operation of the description, with a valid body unless a test breaks it. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Operation } from '../../../src/http/openapi/rows/operations.js';
import { requireDescribed } from '../networks/described.js';
import { REQUEST_BODIES } from '../samples/request-bodies.js';

export interface Place {
  readonly port: number;
  /** Values of the parameters in paths; `x-1` for those that are absent. */
  readonly ids: Readonly<Record<string, string>>;
}

export interface Sent {
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** @defaultValue the valid one */
  readonly body?: string;
  /** The body does not end before the caller says so. */
  readonly hold?: Promise<unknown>;
}

export interface Refusal {
  readonly status: number;
  readonly code: string | undefined;
}

/** No stream is read: it is no refusal. */
export async function ask(place: Place, operation: Operation, sent: Sent = {}): Promise<Refusal> {
  const { method } = operation;
  const { body = bodyOf(operation), headers, hold } = sent;
  const path = pathOf(place, operation, sent);
  const response = await new Promise<Response>((resolve, reject) => {
    const sending = httpRequest(
      {
        ...{ host: '127.0.0.1', port: place.port, method: method.toUpperCase(), path },
        headers: { ...contentOf(body), ...headers },
        agent: false,
      },
      (answer) => {
        const { statusCode: status = 0 } = answer;
        const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true;
        if (isStream) answer.destroy();
        (isStream ? Promise.resolve('') : text(answer)).then((content) => {
          const noContent = [204, 304].includes(status);
          resolve(
            new Response(noContent ? null : content, { status, headers: of(answer.headers) }),
          );
        }, reject);
      },
    );
    sending.once('error', reject);
    if (hold === undefined) sending.end(body);
    else {
      sending.write(body.slice(0, 1));
      void hold.finally(() => sending.end(body.slice(1)));
    }
  });
  await requireDescribed(method.toUpperCase(), path, response);
  return { status: response.status, code: codeIn(await response.text()) };
}

/** The answer to bytes that are no request, or not the whole of one. */
export async function askRaw(port: number, bytes: string): Promise<Refusal> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  const answer = await text(socket);
  socket.destroy();
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), code: codeIn(body) };
}

export function pathOf({ ids }: Place, operation: Operation, { ids: own, query }: Sent): string {
  const path = operation.path.replaceAll(
    /:(\w+)/g,
    (_, name: string) => own?.[name] ?? ids[name] ?? 'x-1',
  );
  const queries = [query, operation.id === 'readOffers' ? 'tools=render' : undefined];
  const search = queries.filter((one) => one !== undefined).join('&');
  return search === '' ? path : `${path}?${search}`;
}

export function bodyOf({ id, method }: Operation): string {
  const body = REQUEST_BODIES[id];
  return body === undefined && method === 'get' ? '' : JSON.stringify(body ?? {});
}

function contentOf(body: string): Record<string, string> {
  if (body === '') return {};
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
}

function of(headers: IncomingHttpHeaders): Headers {
  const given = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return new Headers(given);
}

function codeIn(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined;
  const { code } = JSON.parse(body) as { readonly code?: string };
  return code;
}
