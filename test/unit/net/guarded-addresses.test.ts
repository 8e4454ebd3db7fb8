/** Addresses that HTTP tools may reach: a table of attackers' attempts. */
import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import {
  type AddressPolicy,
  addressPolicyOf,
  literalOf,
  mayReach,
  mayReachByName,
} from '../../../src/net/guarded/addresses.js';
import {
  AddressRefused,
  assertHostAllowed,
  guardedLookup,
} from '../../../src/net/guarded/connections.js';
import { promise } from '../../support/promise.js';

const PUBLIC = ['93.184.215.14', '1.1.1.1', '2606:4700:4700::1111', '64:ff9b::5db8:d70e'];
const PRIVATE = [
  ...['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '::1', 'fd12:3456::1', 'fc00::1', 'fec0::1'],
  // The same, written as IPv6.
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '64:ff9b::a00:1'],
  ...['::127.0.0.1'],
];
const NEVER = [
  ...['0.0.0.0', '0.1.2.3', '::', '255.255.255.255', '224.0.0.1', 'ff02::1', '240.0.0.1'],
  ...['192.0.0.192', '192.0.2.1', '198.18.0.1', '203.0.113.9', '2001:db8::1', '100::1'],
  // Metadata and control services of clouds.
  ...['169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fd00:ec2::254'],
  ...['168.63.129.16', '100.100.100.200', 'fe80::1', 'fe80::a9fe:a9fe'],
  // Detours: 6to4, Teredo, translation, addresses that were given up.
  ...['2002:7f00:1::', '2001:0:7f00:1::', '::ffff:0:127.0.0.1', '64:ff9b:1::1'],
  ...['5f00::1', '4000::1'],
  // Malformed addresses.
  ...['127.1', '0x7f000001', '2130706433', '0177.0.0.1', 'localhost', '', '::1%lo0x'],
];
const policy = (allow?: true | readonly string[]) => addressPolicyOf(allow ?? []);

describe('an HTTP tool', () => {
  it.each(PUBLIC)('reaches the public address %s', (address) => {
    expect(mayReach(address, policy())).toBe(true);
  });

  it.each(PRIVATE)('reaches %s only where it allows private addresses', (address) => {
    expect(mayReach(address, policy())).toBe(false);
    expect(mayReach(address, policy(true))).toBe(true);
  });

  it.each(NEVER)('never reaches %s, unless that is listed', promise('G136'), (address) => {
    expect(mayReach(address, policy())).toBe(false);
    expect(mayReach(address, policy(true))).toBe(false);
  });

  it('reaches exactly what it lists', () => {
    const listed = policy(['10.1.0.0/16', '169.254.169.254', 'fd00::/8', '::1']);
    for (const address of [
      '10.1.2.3',
      '::ffff:10.1.2.3',
      '169.254.169.254',
      'fd00:ec2::254',
      '::1',
    ])
      expect([address, mayReach(address, listed)]).toEqual([address, true]);
    for (const address of ['10.2.0.1', '127.0.0.1', '169.254.169.253', 'fe80::1'])
      expect([address, mayReach(address, listed)]).toEqual([address, false]);
  });

  it('reaches no metadata service by a policy that never does, however it is listed', () => {
    const never: AddressPolicy = {
      ...policy(['169.254.0.0/16', 'fd00::/8', '10.0.0.0/8', 'metadata.internal']),
      neverSpecial: true,
    };
    for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254', 'fe80::1'])
      expect([address, mayReach(address, never), mayReachByName(address, never)]).toEqual([
        ...[address, false, false],
      ]);
    expect([mayReach('10.1.2.3', never), mayReachByName('127.0.0.1', never)]).toEqual([true, true]);
  });

  it('recognises an address in a URL, in any notation', () => {
    const hosts = ['0x7f.1', '2130706433', '0177.0.0.1', '127.1', '[::ffff:127.0.0.1]', '[::1]'];
    for (const host of hosts) {
      const { hostname } = new URL(`http://${host}/`);
      expect([host, literalOf(hostname) !== undefined]).toEqual([host, true]);
      expect(() => assertHostAllowed(hostname, policy())).toThrow(AddressRefused);
    }
    expect(literalOf('example.com')).toBeUndefined();
  });
});

describe('a name', () => {
  const resolve = (addresses: readonly LookupAddress[]) =>
    ((_host: string, _options: unknown, callback: (error: null, found: unknown) => void) => {
      callback(null, addresses);
    }) as never;
  const v4 = (address: string): LookupAddress => ({ address, family: 4 });
  const lookUp = (
    host: string,
    options: { found: readonly LookupAddress[]; allow?: readonly string[] },
  ): Promise<unknown> =>
    new Promise((done) => {
      const lookup = guardedLookup(policy(options.allow), resolve(options.found));
      lookup(host, { all: true }, (error, found) => done(error ?? found));
    });

  it('is resolved anew for every connection, and the address of that moment counts', {
    ...promise('G136'),
  }, async () => {
    expect(await lookUp('rebind.example', { found: [v4('93.184.215.14')] })).toHaveLength(1);
    const later = await lookUp('rebind.example', { found: [v4('127.0.0.1')] });
    expect(later).toBeInstanceOf(AddressRefused);
  });

  it('with public and private addresses is reached at the public ones', async () => {
    const found = [v4('10.0.0.1'), v4('93.184.215.14'), v4('169.254.169.254')];
    expect(await lookUp('mixed.example', { found })).toEqual([v4('93.184.215.14')]);
  });

  it('that is listed may resolve to any address', async () => {
    const options = { found: [v4('10.0.0.1')], allow: ['API.internal'] };
    expect(await lookUp('api.internal', options)).toEqual([v4('10.0.0.1')]);
    expect(await lookUp('other.internal', options)).toBeInstanceOf(AddressRefused);
  });
});
