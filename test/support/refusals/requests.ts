/** Requests that break a rule, and callers who may not send them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConversationError } from '../../../src/client/api/errors.js';
import type { Identify, Identity } from '../../../src/http/identity/identity.js';
import { tokenSigner } from '../../../src/http/identity/tokens.js';
import { isLimited, refusesRepeats } from '../../../src/http/openapi/rows/operation.js';
import type { Operation } from '../../../src/http/openapi/rows/operations.js';
import { answerUnreadable } from '../../../src/http/unreadable.js';
import type { FailureCode } from '../../../src/protocol/failures/failures.js';
import {
  MAX_BLOB_BYTES,
  MAX_HTTP_BODY_BYTES,
} from '../../../src/protocol/limits/service-limits.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import { identifyAll } from '../networks/test-identity.js';
import { ask, askRaw, type Place, pathOf, type Refusal } from './ask.js';
import { ANN, type World } from './world.js';

const as =
  (changed: Partial<Identity>): Identify =>
  () => ({ ...ANN, ...changed });

const rejects =
  (make: () => Error): Identify =>
  () =>
    Promise.reject(make());

/** The parser of HTTP refuses these before any route. */
const UNREADABLE: readonly World[] = [
  {
    name: 'a header line without a colon',
    ask: async (place, operation) =>
      await askRaw(place.port, `${lineOf(place, operation)}\r\nno header\r\n\r\n`),
  },
  {
    name: 'headers of 20 KB',
    sent: () => ({ headers: { 'x-long': 'x'.repeat(20_000) } }),
  },
  { name: 'a request that does not end', ask: askSlowly },
];

function lineOf(place: Place, operation: Operation): string {
  return `${operation.method.toUpperCase()} ${pathOf(place, operation, {})} HTTP/1.1`;
}

/** A server that waits for 50 ms in place of minutes. The request reaches no route, so none is behind it. */
async function askSlowly(place: Place, operation: Operation): Promise<Refusal> {
  const times = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 };
  const server = createServer(times);
  answerUnreadable(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const answer = await askRaw(port, `${lineOf(place, operation)}\r\nHost: localhost\r\n`);
  server.close();
  return answer;
}

const EVIL = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' };

const BODIES: readonly World[] = [
  {
    name: 'another host',
    identify: identifyAll,
    sent: () => ({ headers: { host: 'evil.example' } }),
  },
  { name: 'a page of another site', sent: () => ({ headers: EVIL }) },
  {
    name: 'a body that cannot be unpacked',
    sent: () => ({ body: 'x', headers: { 'content-encoding': 'gzip' } }),
  },
  {
    name: 'an encoding that nothing unpacks',
    sent: () => ({ body: '{}', headers: { 'content-encoding': 'none' } }),
  },
  {
    name: 'a body that is too large',
    sent: ({ takesFile }) => ({
      body: 'x'.repeat((takesFile === true ? MAX_BLOB_BYTES : MAX_HTTP_BODY_BYTES) + 1),
    }),
  },
  {
    name: 'a key that is too long',
    sent: () => ({ headers: { 'idempotency-key': 'k'.repeat(300) } }),
  },
  {
    name: 'an address that is no percent-encoding',
    of: ({ path }) => path.includes(':'),
    sent: ({ path }) => ({ ids: { [/:(\w+)/.exec(path)?.[1] ?? '']: '%zz' } }),
  },
];

const CALLERS: readonly World[] = [
  { name: 'no identity', identify: () => undefined },
  { name: 'an identity that breaks', identify: rejects(() => new Error('oops')) },
  {
    name: 'keys of identities that are away',
    identify: rejects(() => new ConversationError('identity_unavailable', 'no keys')),
  },
  {
    name: 'a store of keys that is away',
    identify: rejects(() => new StoreUnavailable('no store')),
  },
  { name: 'no rights', identify: as({ rights: [] }) },
  {
    name: 'a second request where one is allowed',
    changes: { deps: () => ({ limits: { requests: 1 } }) },
    of: isLimited,
    ask: async (place, operation) =>
      await askUntil('rate_limited', () => ask(place, operation, {})),
  },
  {
    name: 'a repeat while the first request is open',
    of: refusesRepeats,
    ask: async (place, operation) => await askTwice(place, operation),
  },
  { name: 'a caller of another tenant', identify: as({ tenants: ['beta'] }) },
  {
    name: 'a caller who names the tenant of others',
    identify: as({ tenants: ['beta'] }),
    sent: () => ({ query: 'tenant=default' }),
  },
  {
    name: 'an admin who is no member of the space',
    of: ({ id }) => ['sendToSpace', 'readSpace'].includes(id),
    identify: as({ actor: { id: 'zoe', roles: ['lead'] } }),
  },
  {
    name: 'an identity that is too large for a cookie',
    of: ({ id }) => id === 'beginSession',
    tokens: tokenSigner(['a secret of tokens with 32 characters']),
    identify: as({ actor: { id: 'ann', roles: manyRoles() } }),
  },
];

function manyRoles(): readonly string[] {
  return Array.from({ length: 50 }, (_, nth) => `${nth}`.padEnd(100, 'r'));
}

/** The first request is open as long as its body does not end. */
async function askTwice(place: Place, operation: Operation): Promise<Refusal> {
  let end = (): void => undefined;
  const hold = new Promise<void>((resolve) => {
    end = resolve;
  });
  const headers = { 'idempotency-key': `k-${operation.id}` };
  const first = ask(place, operation, { headers, hold });
  try {
    // Refused for its own body until the first one has come.
    return await askUntil('request_running', () => ask(place, operation, { headers, body: '{' }));
  } finally {
    end();
    await first;
  }
}

const TRIES = 50;

/** Asks again until the answer has the code. */
async function askUntil(code: FailureCode, send: () => Promise<Refusal>): Promise<Refusal> {
  for (let tries = 1; ; tries += 1) {
    const answer = await send();
    if (answer.code === code || tries === TRIES) return answer;
  }
}

export const BAD_REQUESTS: readonly World[] = [...UNREADABLE, ...BODIES, ...CALLERS];
