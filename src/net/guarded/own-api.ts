/**
 * The API of the same installation. Requests that a model shapes must not reach it, because the API could take them for
 * those of a person.
 */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { isOfThisMachine, plainAddressOf } from './addresses.js';

/** A host with its port, as a URL or a socket has them. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

const served = new Set<Place>();

/** APIs that listen in this process. */
export function servedPlaces(): readonly Place[] {
  return [...served];
}

/** Notes an API that listens in this process. Returns a function that removes it. */
export function notePlace(url: string): () => void {
  const place = placeOf(new URL(url));
  served.add(place);
  return () => {
    served.delete(place);
  };
}

/** The place leads to the API. */
export class OwnApiRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';

  constructor({ host, port }: Place) {
    super(
      `"${host}" with the port ${port} is the API of this installation, which no tool may reach`,
    );
    this.name = 'OwnApiRefused';
  }
}

/** The host is in lower case, without brackets and without a dot at its end. */
export function placeOf({ hostname, port, protocol }: URL): Place {
  const standard = protocol === 'https:' ? 443 : 80;
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return { host: host.toLowerCase(), port: port === '' ? standard : Number(port) };
}

/**
 * Whether a connection to the place reaches an API. A name counts where it is that of an API: it is not resolved, since
 * the address of the socket that it leads to is a place, too.
 */
export async function isOwnApi(place: Place, apis: readonly Place[]): Promise<boolean> {
  const near = apis.filter(({ port }) => port === place.port);
  if (near.some(({ host }) => host === place.host)) return true;
  const address = plainAddressOf(place.host);
  return address !== undefined && (await areOwn([address], near));
}

/** The same for a place that a proxy connects to: a name is resolved as this machine does. */
export async function isOwnApiOfProxy(place: Place, apis: readonly Place[]): Promise<boolean> {
  const near = apis.filter(({ port }) => port === place.port);
  if (near.some(({ host }) => host === place.host)) return true;
  // No lookup for any other port.
  return near.length > 0 && (await areOwn(await addressesOf(place), near));
}

async function areOwn(addresses: readonly string[], apis: readonly Place[]): Promise<boolean> {
  const own = (await Promise.all(apis.map(addressesOf))).flat();
  const here = new Set(interfaceAddresses());
  const isHere = (address: string): boolean => isOfThisMachine(address) || here.has(address);
  // An API on this machine may listen at each of its addresses.
  const isApiHere = own.some(isHere);
  return addresses.some((address) => own.includes(address) || (isApiHere && isHere(address)));
}

/** The address of a host, or those that its name has now; none for a name that is not known. */
async function addressesOf({ host }: Place): Promise<readonly string[]> {
  const literal = plainAddressOf(host);
  if (literal !== undefined) return [literal];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.flatMap(({ address }) => plainAddressOf(address) ?? []);
}

function interfaceAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return all.flatMap(({ address }) => plainAddressOf(address) ?? []);
}
