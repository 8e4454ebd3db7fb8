/** Sends a request and follows its redirects. Runs in the worker. */
import { type Dispatcher, fetch, type Response } from 'undici';
import type { AddressPolicy } from '../../net/guarded/addresses.js';
import { assertHostAllowed, assertNotOwnApi } from '../../net/guarded/connections.js';
import { HttpProblem } from './problem.js';
import type { HttpRequest } from './request.js';

export interface SendRules {
  readonly dispatcher: Dispatcher;
  readonly policy: AddressPolicy;
  /** Undefined for none. */
  readonly proxy: string | undefined;
  readonly maxRedirects: number;
  readonly signal: AbortSignal;
}

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Headers of the first origin that another origin may see. */
const FOR_ALL_ORIGINS: readonly string[] = ['accept', 'user-agent'];

/**
 * Returns the last response, its body not yet read. Every hop is checked like the first. Another origin never gets the
 * headers of the first, nor a body.
 * @throws {HttpProblem} for a redirect that is not followed; errors of fetch
 */
export async function send(request: HttpRequest, rules: SendRules): Promise<Response> {
  let current = request;
  for (let hop = 0; ; hop += 1) {
    assertHostAllowed(current.url.hostname, rules.policy);
    await assertNotOwnApi(current.url, rules);
    const response = await fetch(current.url, {
      method: current.method,
      headers: { ...current.headers },
      ...(current.body === undefined ? {} : { body: current.body }),
      redirect: 'manual',
      signal: rules.signal,
      dispatcher: rules.dispatcher,
    });
    const location = response.headers.get('location');
    if (!REDIRECTS.includes(response.status) || location === null || rules.maxRedirects === 0)
      return response;
    await response.body?.cancel();
    if (hop === rules.maxRedirects)
      throw new HttpProblem(
        `${current.url.host}: more than ${hop} redirects; the last was not followed`,
      );
    current = redirected(current, location, response.status);
  }
}

function redirected(from: HttpRequest, location: string, status: number): HttpRequest {
  const { host } = from.url;
  const url = targetOf(location, from.url);
  if (url === undefined) throw new HttpProblem(`${host}: redirects to an invalid URL`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new HttpProblem(`${host}: redirects to ${url.protocol}, which is not followed`);
  if (from.url.protocol === 'https:' && url.protocol === 'http:')
    throw new HttpProblem(`${host}: redirects from https to http, which is not followed`);
  if (url.username !== '' || url.password !== '')
    throw new HttpProblem(`${host}: redirects to a URL with a password, which is not followed`);
  const isRead = from.method === 'GET' || from.method === 'HEAD';
  // Like browsers. @see https://fetch.spec.whatwg.org/#http-redirect-fetch
  const becomesGet =
    !isRead && (status === 303 || (from.method === 'POST' && (status === 301 || status === 302)));
  const isSameOrigin = url.origin === from.url.origin;
  if (!isSameOrigin && !isRead && !becomesGet)
    throw new HttpProblem(
      `${host}: redirects a ${from.method} to another origin, ${url.host}, which is not followed`,
    );
  const headers = Object.entries(from.headers).filter(
    ([name]) =>
      FOR_ALL_ORIGINS.includes(name) || (isSameOrigin && !(becomesGet && name === 'content-type')),
  );
  return {
    method: becomesGet ? 'GET' : from.method,
    url,
    headers: Object.fromEntries(headers),
    body: becomesGet ? undefined : from.body,
  };
}

function targetOf(location: string, base: URL): URL | undefined {
  try {
    const url = new URL(location, base);
    url.hash = '';
    return url;
  } catch {
    return undefined;
  }
}
