/** A wrong variable of Temporal's is named before anything connects; the SDK would ignore it, or not name it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  TemporalSettingsInvalid,
  temporalSettings,
} from '../../../../src/client/temporal/connection.js';
import { CERTIFICATE, KEY } from '../../../support/networks/tls-peer.js';
import { temporaryFolder } from '../../../support/temporary.js';

beforeEach(() => {
  for (const name of Object.keys(process.env))
    if (name.startsWith('TEMPORAL_')) vi.stubEnv(name, undefined);
  // No configuration file of this machine counts.
  vi.stubEnv('XDG_CONFIG_HOME', '/nowhere');
  vi.stubEnv('HOME', '/nowhere');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

function fileOf(text: string): string {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, text);
  return file;
}

function settingsOf(variables: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  return temporalSettings();
}

const CERT = 'TEMPORAL_TLS_CLIENT_CERT_PATH';
const PRIVATE = 'TEMPORAL_TLS_CLIENT_KEY_PATH';
const AUTHORITY = 'TEMPORAL_TLS_SERVER_CA_CERT_PATH';

describe('the settings of the environment', () => {
  it('are the local server, if there are none', () => {
    expect(temporalSettings()).toMatchObject({
      address: '127.0.0.1:7233',
      namespace: 'default',
    });
  });

  it('have certificates and the name of the server', () => {
    const settings = settingsOf({
      TEMPORAL_ADDRESS: 'temporal.test:7233',
      TEMPORAL_NAMESPACE: 'sales',
      [CERT]: fileOf(CERTIFICATE),
      [PRIVATE]: fileOf(KEY),
      [AUTHORITY]: fileOf(CERTIFICATE),
      TEMPORAL_TLS_SERVER_NAME: 'inner.test',
    });
    const bytes = (text: string) => Uint8Array.from(Buffer.from(text));
    expect(settings).toMatchObject({
      address: 'temporal.test:7233',
      namespace: 'sales',
      options: {
        tls: {
          serverNameOverride: 'inner.test',
          serverRootCACertificate: bytes(CERTIFICATE),
          clientCertPair: { crt: bytes(CERTIFICATE), key: bytes(KEY) },
        },
      },
    });
  });

  it.each(['true', '1'])('have TLS with TEMPORAL_TLS=%s', (value) => {
    expect(settingsOf({ TEMPORAL_TLS: value }).options.tls).toBeTruthy();
  });

  it.each(['false', '0'])('have no TLS and read no certificate with TEMPORAL_TLS=%s', (value) => {
    const { options } = settingsOf({ TEMPORAL_TLS: value, [CERT]: '/nowhere/cert.pem' });
    expect(options.tls).toBe(false);
  });

  it('come from a profile of the configuration file', () => {
    const file = fileOf('[profile.east]\naddress = "east.test:7233"\n');
    const settings = settingsOf({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'east' });
    expect(settings.address).toBe('east.test:7233');
  });
});

describe('an address', () => {
  it.each([
    ['temporal.test', 'temporal.test:7233'],
    ['127.0.0.1', '127.0.0.1:7233'],
    ['[::1]', '[::1]:7233'],
    ['[::1]:17233', '[::1]:17233'],
  ])('%s is that of a server at %s', (given, address) => {
    expect(settingsOf({ TEMPORAL_ADDRESS: given }).address).toBe(address);
    expect(temporalSettings({ address: given }).address).toBe(address);
  });

  it.each([
    ...['http://127.0.0.1:7233', 'https://temporal.test', 'grpc:temporal.test:7233'],
    ...['temporal.test:7233/', 'temporal.test:', 'temporal.test:port', '::1', 'me@temporal.test'],
  ])('%s is refused by its place, with the form that it must have', (address) => {
    const rule = `must be host:port, such as 127.0.0.1:7233, without a scheme; got "${address}"`;
    const file = fileOf(`[profile.default]\naddress = "${address}"\n`);
    expect(() => temporalSettings({ address })).toThrow(`temporal.address ${rule}`);
    expect(() => settingsOf({ TEMPORAL_CONFIG_FILE: file })).toThrow(`address in ${file} ${rule}`);
    expect(() => settingsOf({ TEMPORAL_ADDRESS: address })).toThrow(
      new TemporalSettingsInvalid(`TEMPORAL_ADDRESS ${rule}`),
    );
  });

  it('that is empty is refused as an option, too', () => {
    expect(() => temporalSettings({ address: '' })).toThrow('temporal.address must be host:port');
  });
});

describe('the error of a wrong setting names the variable', () => {
  const wrong: readonly (readonly [string, () => Record<string, string>, RegExp])[] = [
    [
      'a switch with another word',
      () => ({ TEMPORAL_TLS: 'maybe' }),
      /^TEMPORAL_TLS must be true, false, 1, 0, got "maybe"$/,
    ],
    ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'TEMPORAL_PROFILE'].map(
      (name) =>
        [
          `an empty ${name}`,
          () => ({ [name]: '' }),
          new RegExp(`^${name} is empty: give it a value, or unset it$`),
        ] as const,
    ),
    [
      'a configuration file that does not exist',
      () => ({ TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' }),
      /^TEMPORAL_CONFIG_FILE names \/nowhere\/temporal\.toml, which cannot be read \(ENOENT/,
    ],
    [
      'a configuration file that is no TOML',
      () => ({ TEMPORAL_CONFIG_FILE: fileOf('address: 1') }),
      /^The TEMPORAL_ variables and \/.*file cannot be read together: Invalid TOML/,
    ],
    [
      'a profile that the file does not have',
      () => ({ TEMPORAL_CONFIG_FILE: fileOf('[profile.east]'), TEMPORAL_PROFILE: 'west' }),
      /^TEMPORAL_PROFILE names "west": \/.*file has no table \[profile\.west\]$/,
    ],
    [
      'a file without profiles',
      () => ({ TEMPORAL_CONFIG_FILE: fileOf('') }),
      /^\/.*file has no table \[profile\.default\]$/,
    ],
    [
      'a profile without a file',
      () => ({ TEMPORAL_PROFILE: 'west' }),
      /^TEMPORAL_PROFILE names "west": Temporal's configuration file has no table \[profile\.west\]$/,
    ],
    [
      'a missing certificate',
      () => ({ [CERT]: '/nowhere/cert.pem', [PRIVATE]: fileOf(KEY) }),
      /^TEMPORAL_TLS_CLIENT_CERT_PATH names \/nowhere\/cert\.pem, which cannot be read \(ENOENT/,
    ],
    [
      'a missing key',
      () => ({ [CERT]: fileOf(CERTIFICATE), [PRIVATE]: '/nowhere/key.pem' }),
      /^TEMPORAL_TLS_CLIENT_KEY_PATH names \/nowhere\/key\.pem, which cannot be read/,
    ],
    [
      'a missing authority',
      () => ({ [AUTHORITY]: '/nowhere/ca.pem' }),
      /^TEMPORAL_TLS_SERVER_CA_CERT_PATH names \/nowhere\/ca\.pem, which cannot be read/,
    ],
    [
      'a certificate without its key',
      () => ({ [CERT]: fileOf(CERTIFICATE) }),
      /^TEMPORAL_TLS_CLIENT_CERT_PATH is set without the key that belongs to it$/,
    ],
    [
      'a key without its certificate',
      () => ({ [PRIVATE]: fileOf(KEY) }),
      /^TEMPORAL_TLS_CLIENT_KEY_PATH is set without the certificate that belongs to it$/,
    ],
    [
      'a certificate that is none',
      () => ({ [CERT]: fileOf('hello'), [PRIVATE]: fileOf(KEY) }),
      /^TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH: not valid PEM/,
    ],
    [
      'an authority that is none',
      () => ({ [AUTHORITY]: fileOf('hello') }),
      /^TEMPORAL_TLS_SERVER_CA_CERT_PATH: not valid PEM/,
    ],
    [
      'a path and the data of one certificate',
      () => ({ [CERT]: fileOf(CERTIFICATE), TEMPORAL_TLS_CLIENT_CERT_DATA: CERTIFICATE }),
      /^The TEMPORAL_ variables and .* together: Cannot specify both client_cert_path and client_cert_data$/,
    ],
    [
      'a missing certificate that the configuration file names',
      () => ({
        TEMPORAL_CONFIG_FILE: fileOf('[profile.default.tls]\nserver_ca_cert_path = "/nowhere/ca"'),
      }),
      /^server_ca_cert in \/.*file names \/nowhere\/ca, which cannot be read/,
    ],
  ];
  it.each(wrong)('%s', (_title, variables, expected) => {
    const read = () => settingsOf(variables());
    expect(read).toThrow(TemporalSettingsInvalid);
    expect(read).toThrow(expected);
  });
});
