/** Requests as browsers send them for pages of other sites: with exactly these headers, which no fetch sends. */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { AppDeps } from '../../../src/http/request/deps.js';
import { sampleLog } from '../samples/sample-log.js';
import { type HttpApp, startHttpApp } from './http-app.js';

export const CLOSE = '/v1/conversations/c-1/close';
export const EVENTS = '/v1/conversations/c-1/events';
export const EVIL = 'http://evil.example';

export interface Sent {
  /** @defaultValue POST */
  readonly method?: string;
  /** @defaultValue a route that needs no body */
  readonly path?: string;
  /** `Host` may be one of them; Node adds none of the others. */
  readonly headers?: Record<string, string | string[]>;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export async function send(port: number, sent: Sent): Promise<Answer> {
  const { method = 'POST', path = CLOSE, headers } = sent;
  return await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent: false };
    const sending = httpRequest(options, (response) => {
      const { statusCode: status } = response;
      text(response).then((body) => {
        resolve({ status, headers: response.headers, body });
      }, reject);
    });
    sending.once('error', reject);
    sending.end();
  });
}

/** An API that has the conversation which the routes above name. */
export async function withConversation(deps: Partial<AppDeps> = {}): Promise<HttpApp> {
  const app = await startHttpApp({ signal: () => undefined }, deps);
  app.reader.add('c-1', sampleLog('c-1'));
  return app;
}

const REFUSED: Readonly<Record<string, number>> = {
  host_not_allowed: 421,
  origin_not_allowed: 403,
};

/** Returns whether the request reached a route, with any answer. For a HEAD request the status alone decides. */
export async function passes(app: HttpApp, sent: Sent): Promise<boolean> {
  const { status, body } = await send(app.server.port, sent);
  if (sent.method === 'HEAD') return status === 200;
  const { code } = (body.startsWith('{') ? JSON.parse(body) : {}) as { readonly code?: string };
  const refused = code === undefined ? undefined : REFUSED[code];
  if (refused !== undefined) expect(status).toBe(refused);
  return refused === undefined;
}
