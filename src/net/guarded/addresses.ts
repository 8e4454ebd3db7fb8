/**
 * Decides which addresses a request may reach whose target comes from outside: public ones always, those in the
 * process's own network only if they are allowed. Every address is checked when it is connected to, so an earlier
 * resolution of the name does not matter.
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface AddressPolicy {
  /** Loopback and private addresses. */
  readonly private: boolean;
  readonly ranges: readonly (readonly [Address, number])[];
  /** Names in lower case that are allowed with any address. */
  readonly hosts: ReadonlySet<string>;
  /** Refuses metadata services, and all that is neither public nor private, also where they are listed. @defaultValue false */
  readonly neverSpecial?: boolean;
  /** Refused even where their addresses are allowed, with each API of this process. @defaultValue none is refused */
  readonly ownApis?: readonly { readonly host: string; readonly port: number }[];
}

/** `true` allows private addresses; a list allows those that it names: addresses, ranges and host names, all valid. */
export type AllowPrivate = true | readonly string[];

export function addressPolicyOf(allowPrivate: AllowPrivate): AddressPolicy {
  const entries = allowPrivate === true ? [] : allowPrivate;
  return {
    private: allowPrivate === true,
    ranges: entries.filter(isAddressRange).map(rangeOf),
    hosts: new Set(
      entries.filter((entry) => !isAddressRange(entry)).map((entry) => entry.toLowerCase()),
    ),
  };
}

function isAddressRange(entry: string): boolean {
  return parse(entry.split('/')[0] ?? '') !== undefined;
}

function rangeOf(entry: string): readonly [Address, number] {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry);
  const address = ipaddr.parse(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** True for an address that may be connected to. A text that is not an address is not allowed. */
export function mayReach(address: string, policy: AddressPolicy): boolean {
  const parsed = parse(address);
  if (parsed === undefined) return false;
  const kind = kindOf(parsed);
  if (kind === 'public' || (kind === 'private' && policy.private)) return true;
  if (kind === 'special' && policy.neverSpecial === true) return false;
  // A mapped address counts as the one that it maps to.
  const plain = embeddedOf(parsed) ?? parsed;
  return policy.ranges.some(([range, bits]) =>
    [parsed, plain].some((it) => it.kind() === range.kind() && it.match(range, bits)),
  );
}

/** True for an address of a host that the policy allows by its name. */
export function mayReachByName(address: string, policy: AddressPolicy): boolean {
  const parsed = parse(address);
  return policy.neverSpecial !== true || (parsed !== undefined && kindOf(parsed) !== 'special');
}

/** The host of a URL as an address, or undefined when it is a name. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return parse(bare) === undefined ? undefined : bare;
}

/** One spelling for each address, without the zone; a mapped address is the one that it maps to. Undefined for a name. */
export function plainAddressOf(text: string): string | undefined {
  const parsed = parse(text.replace(/%.*$/, ''));
  return parsed === undefined ? undefined : (embeddedOf(parsed) ?? parsed).toNormalizedString();
}

/** True for loopback addresses, and for those that stand for every address of a machine. */
export function isOfThisMachine(address: string): boolean {
  const range = parse(address)?.range();
  return range === 'loopback' || range === 'unspecified';
}

function parse(text: string): Address | undefined {
  // Strict: forms such as "127.1" never come out of a URL or a resolver.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // An address with a zone belongs to one link, and no URL contains it.
  if (text.includes('%')) return undefined;
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

/** `private`: an internal network. `special`: metadata services, and ranges that no host should have. */
type Kind = 'public' | 'private' | 'special';

/** Metadata and control services of clouds that are not in a range of special addresses. */
const METADATA: readonly string[] = ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254'];
const PRIVATE_RANGES: readonly string[] = [
  ...['loopback', 'private', 'carrierGradeNat', 'uniqueLocal', 'deprecatedSiteLocal'],
];
/** All addresses that are assigned so far. @see https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST: readonly [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** An IPv4 address in its last 32 bits. @see https://www.rfc-editor.org/rfc/rfc6052 */
const NAT64: readonly [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

function kindOf(address: Address): Kind {
  const embedded = embeddedOf(address);
  if (embedded !== undefined) return kindOf(embedded);
  if (METADATA.some((it) => ipaddr.parse(it).toNormalizedString() === address.toNormalizedString()))
    return 'special';
  const range = address.range();
  if (PRIVATE_RANGES.includes(range)) return 'private';
  if (range !== 'unicast') return 'special';
  return address.kind() === 'ipv4' || address.match(...GLOBAL_UNICAST) ? 'public' : 'special';
}

/** The IPv4 address where a packet to this address ends. */
function embeddedOf(address: Address): ipaddr.IPv4 | undefined {
  if (address.kind() === 'ipv4') return undefined;
  const six = address as ipaddr.IPv6;
  if (six.isIPv4MappedAddress()) return six.toIPv4Address();
  if (!six.match(...NAT64)) return undefined;
  return ipaddr.fromByteArray(six.toByteArray().slice(12)) as ipaddr.IPv4;
}
