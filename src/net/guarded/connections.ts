/**
 * Connections that reach allowed addresses only. Addresses are checked when a socket is opened, on the resolved address
 * of that very socket, so a name that changes its meaning a moment later gains nothing.
 */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, ProxyAgent } from 'undici';
import { type AddressPolicy, literalOf, mayReach, mayReachByName } from './addresses.js';
import {
  isOwnApi,
  isOwnApiOfProxy,
  OwnApiRefused,
  type Place,
  placeOf,
  servedPlaces,
} from './own-api.js';

/** The host has no address that may be reached. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';

  constructor(host: string) {
    super(`"${host}" has no address that may be reached`);
    this.name = 'AddressRefused';
  }
}

export interface ConnectionRules {
  readonly policy: AddressPolicy;
  /** `environment`, a proxy's URL, or undefined for none. */
  readonly proxy: string | undefined;
  /**
   * An idle connection may be closed under a request; a request that must not be sent twice gets its own connection.
   */
  readonly reuse: boolean;
}

/** A host that does not accept a connection in this time counts as unreachable. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Every request has its own timeout, which fires its signal. */
const NO_CLOCKS = { headersTimeout: 0, bodyTimeout: 0 } as const;

/** Creates the dispatcher of requests; its idle connections do not keep the process alive. */
export function createDispatcher(rules: ConnectionRules): Dispatcher {
  const connect = guardedConnector(rules.policy);
  // Responses are read whole in one go: HTTP/2 would add nothing, and a pool of one request each is simpler to bound.
  const options = {
    ...NO_CLOCKS,
    connect,
    allowH2: false,
    ...(rules.reuse ? {} : { pipelining: 0 }),
  };
  const { proxy } = rules;
  if (proxy === undefined) return new Agent(options);
  if (proxy === 'environment') return new EnvHttpProxyAgent(options);
  return new ProxyAgent({ ...options, uri: proxy });
}

/** Throws when the URL itself names a host that may not be reached; also checked for requests through a proxy. */
export function assertHostAllowed(hostname: string, policy: AddressPolicy): void {
  if (policy.hosts.has(hostname.toLowerCase())) return;
  const literal = literalOf(hostname);
  if (literal !== undefined && !mayReach(literal, policy)) throw new AddressRefused(hostname);
}

function guardedConnector(policy: AddressPolicy): buildConnector.connector {
  const connector = buildConnector({
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    lookup: guardedLookup(policy),
  });
  return (options, callback) => {
    try {
      assertHostAllowed(options.hostname, policy);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    connector(options, (error, socket) => {
      if (error !== null) callback(error, null);
      else passOn(socket, apisOf(policy), callback);
    });
  };
}

function apisOf({ ownApis }: AddressPolicy): readonly Place[] {
  return ownApis === undefined ? [] : [...ownApis, ...servedPlaces()];
}

/** Passes on a socket that has sent nothing yet, unless it leads to the API of this installation. */
function passOn(
  socket: Socket,
  ownApis: readonly Place[],
  callback: buildConnector.Callback,
): void {
  const { remoteAddress = '', remotePort = 0 } = socket;
  const place = { host: remoteAddress, port: remotePort };
  if (!ownApis.some(({ port }) => port === remotePort)) {
    callback(null, socket);
    return;
  }
  const refuse = (error: Error): void => {
    socket.destroy();
    callback(error, null);
  };
  isOwnApi(place, ownApis).then((isOwn) => {
    if (isOwn) refuse(new OwnApiRefused(place));
    else callback(null, socket);
  }, refuse);
}

/**
 * Throws for a URL that names the API of this installation. A connection is checked again when it is opened, but not
 * that of a proxy, which resolves names by itself.
 */
export async function assertNotOwnApi(
  url: URL,
  { policy, proxy }: Pick<ConnectionRules, 'policy' | 'proxy'>,
): Promise<void> {
  const place = placeOf(url);
  const isOwn = proxy === undefined ? isOwnApi : isOwnApiOfProxy;
  if (await isOwn(place, apisOf(policy))) throw new OwnApiRefused(place);
}

/** Resolves as Node does, and leaves out addresses that may not be reached. */
export function guardedLookup(
  policy: AddressPolicy,
  resolve: typeof lookup = lookup,
): LookupFunction {
  return (hostname, options, callback) => {
    const all: LookupOptions & { all: true } = { ...options, all: true };
    resolve(hostname, all, (error, found) => {
      const allowed = error === null ? allowedOf(hostname, found, policy) : [];
      const [first] = allowed;
      const failure = error ?? (first === undefined ? new AddressRefused(hostname) : null);
      if (failure !== null || first === undefined) callback(failure, []);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function allowedOf(
  hostname: string,
  found: readonly LookupAddress[],
  policy: AddressPolicy,
): LookupAddress[] {
  const may = policy.hosts.has(hostname.toLowerCase()) ? mayReachByName : mayReach;
  return found.filter(({ address }) => may(address, policy));
}
