/** Addresses, ranges and host names of `allowPrivate`; the worker decides what they match. Runs anywhere. */
import { type ProblemList, shown } from '../checks/problems.js';

const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

/** Adds the faults of `allowPrivate`. */
export function checkAllowPrivate(allowPrivate: unknown, problems: ProblemList): void {
  if (Array.isArray(allowPrivate) && allowPrivate.length > 0) {
    for (const [index, entry] of (allowPrivate as readonly unknown[]).entries())
      problems.addIf(`allowPrivate[${index}]`, rangeProblem(entry));
  } else if (allowPrivate !== undefined && allowPrivate !== true)
    problems.add(
      'allowPrivate',
      `must be true or a list of addresses, ranges and host names, got ${shown(allowPrivate)}`,
    );
}

/** The reason why an entry cannot be used; undefined when it can. */
export function rangeProblem(entry: unknown): string | undefined {
  const rule = `must be an address, a range such as 10.1.0.0/16, or a host name, got ${JSON.stringify(entry)}`;
  if (typeof entry !== 'string') return rule;
  const [address = '', prefix, ...rest] = entry.split('/');
  if (rest.length > 0 || (prefix !== undefined && !/^[0-9]{1,3}$/.test(prefix))) return rule;
  const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : undefined;
  if (bits !== undefined) return Number(prefix ?? 0) <= bits ? undefined : rule;
  const isNumeric = /^[0-9.]+$/.test(address);
  return prefix === undefined && !isNumeric && HOST_NAME.test(address) ? undefined : rule;
}

function isIPv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((it) => /^(?:0|[1-9][0-9]{0,2})$/.test(it) && +it < 256);
}

/** Eight groups of hexadecimal digits, of which one run may be left out; the last two may be an IPv4 address. */
function isIPv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return false;
  const counts = halves.map((half, index) => groupsOf(half, index === halves.length - 1));
  if (counts.includes(undefined)) return false;
  const total = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return halves.length === 2 ? total < 8 : total === 8;
}

function groupsOf(half: string, isLast: boolean): number | undefined {
  if (half === '') return 0;
  const groups = half.split(':');
  const last = groups.at(-1) ?? '';
  const embedded = isLast && isIPv4(last);
  const hex = embedded ? groups.slice(0, -1) : groups;
  if (!hex.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return hex.length + (embedded ? 2 : 0);
}
