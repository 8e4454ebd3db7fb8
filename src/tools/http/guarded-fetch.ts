/** A `fetch` that reaches allowed addresses only, and follows no redirect. Runs in the worker. */
import { fetch } from 'undici';
import { type AllowPrivate, addressPolicyOf } from '../../net/guarded/addresses.js';
import {
  AddressRefused,
  assertHostAllowed,
  assertNotOwnApi,
  createDispatcher,
} from '../../net/guarded/connections.js';
import { OwnApiRefused, placeOf } from '../../net/guarded/own-api.js';

/** `apiUrls`: addresses of the API of this installation, which are never reached. */
export function guardedFetch({
  allowPrivate,
  apiUrls,
}: {
  readonly allowPrivate: AllowPrivate;
  readonly apiUrls: readonly string[];
}): (to: string | URL, init?: RequestInit) => Promise<Response> {
  const ownApis = apiUrls.map((url) => placeOf(new URL(url)));
  const policy = { ...addressPolicyOf(allowPrivate), ownApis };
  const rules = { policy, proxy: undefined };
  const dispatcher = createDispatcher({ ...rules, reuse: false });
  return async (to, init) => {
    const url = new URL(to);
    assertHostAllowed(url.hostname, policy);
    await assertNotOwnApi(url, rules);
    const { headers, ...rest } = init ?? {};
    const sent = {
      ...rest,
      headers: Object.fromEntries(new Headers(headers)),
      redirect: 'manual' as const,
      dispatcher,
    };
    try {
      const response = await fetch(url, sent as Parameters<typeof fetch>[1]);
      const { status, statusText, body } = response;
      // Callers know the class of the host; undici has another one.
      return new Response(body, {
        ...{ status, statusText },
        headers: Object.fromEntries(response.headers),
      });
    } catch (error) {
      const { cause } = error as { readonly cause?: unknown };
      // `fetch` says no more than that it has failed.
      throw cause instanceof AddressRefused || cause instanceof OwnApiRefused ? cause : error;
    }
  };
}
