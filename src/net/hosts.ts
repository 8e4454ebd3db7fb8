/** Names and addresses of hosts: which of them are this machine. */
import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** `127.0.0.1`, `::1`; no names. */
export function isLoopbackAddress(text: string): boolean {
  const family = isIP(text);
  return family !== 0 && LOOPBACK.check(text, family === 4 ? 'ipv4' : 'ipv6');
}

/** Names and addresses that always mean this machine; no name server is asked. @see RFC 6761, section 6.3 */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || isLoopbackAddress(name);
}

/** The rule of names that are allowed to be a host, for refusals. */
export const HOST_NAME_RULE = 'must be a host name or an address, without scheme and port';

/** `http://127.0.0.1:8080`, `https://agents.example.com`. */
export function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** `agents.example.com`, `192.168.1.5`, `fd00::5`. */
export function isHostName(text: string): boolean {
  return /^[a-z\d_-]+(\.[a-z\d_-]+)*$/i.test(text) || isIP(text) !== 0;
}

/** The name in a `Host` header, in lower case, without port and brackets; undefined for an invalid header. */
export function nameOfHost(header: string): string | undefined {
  const [, address, name] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d*)?$/i.exec(header) ?? [];
  return (address ?? name)?.toLowerCase();
}
