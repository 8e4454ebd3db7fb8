/** `colloquy keys`: API keys of the event log. A key itself is printed once, when it is made or rotated. */
import {
  createKey,
  KEY_CACHE_MS,
  type MintedKey,
  revokeKey,
  rotateKey,
} from '../../http/identity/api-keys.js';
import { RIGHTS, type Right } from '../../http/identity/identity.js';
import { durationMs } from '../../protocol/values/durations.js';
import { DEFAULT_TENANT } from '../../protocol/values/ids.js';
import type { ApiKeyRecord, ApiKeyStore } from '../../store/ports/service/api-keys.js';
import { oneLine, table } from '../conversations/text.js';
import { openExistingLog, openOrMakeLog } from '../operate/open.js';
import { ConfigError, readConfig } from '../process/config.js';
import { exitNow } from '../process/process-life.js';

export interface KeysFlags {
  readonly data?: string;
  readonly json?: boolean;
  readonly retry: number;
}

export interface CreateFlags extends KeysFlags {
  readonly name: string;
  readonly tenant?: readonly string[];
  readonly role?: readonly string[];
  /** Separated by commas. */
  readonly right: readonly string[];
  /** A duration in words. */
  readonly expires?: string;
}

export interface RotateFlags extends KeysFlags {
  /** A duration in words. */
  readonly grace: string;
}

export async function runCreateKey(flags: CreateFlags): Promise<never> {
  const rights = rightsOf(flags.right);
  const expiresInMs =
    flags.expires === undefined ? undefined : millisecondsOf('expires', flags.expires);
  const make = async (store: ApiKeyStore): Promise<string> => {
    const made = await createKey(store, {
      name: flags.name,
      tenants: flags.tenant ?? [DEFAULT_TENANT],
      roles: flags.role ?? [],
      rights,
      ...(expiresInMs === undefined ? {} : { expiresAt: new Date(Date.now() + expiresInMs) }),
    });
    return flags.json === true ? jsonOf(made) : minted(made, []);
  };
  // The first key may be made before the API has run.
  return await withKeys(flags, make, openOrMakeLog);
}

export async function runListKeys(flags: KeysFlags): Promise<never> {
  return await withKeys(flags, async (store) => {
    const records = await store.list();
    if (flags.json === true) return json({ keys: records.map(shownRecord) });
    return records.length === 0 ? 'No key.' : listed(records);
  });
}

export async function runRotateKey(id: string, flags: RotateFlags): Promise<never> {
  const graceMs = millisecondsOf('grace', flags.grace);
  return await withKeys(flags, async (store) => {
    const made = await rotateKey(store, id, { graceMs });
    if (made === undefined) throw new ConfigError(unknown(id));
    const until = made.record.previous?.until ?? '';
    return flags.json === true ? jsonOf(made) : minted(made, [`old key   valid until ${until}`]);
  });
}

export async function runRevokeKey(id: string, flags: KeysFlags): Promise<never> {
  return await withKeys(flags, async (store) => {
    const record = await revokeKey(store, id);
    if (record === undefined) throw new ConfigError(unknown(id));
    const seconds = KEY_CACHE_MS / 1_000;
    return flags.json === true
      ? json(shownRecord(record))
      : `revoked ${id}; every API refuses it within ${seconds} s, and ends its streams soon after`;
  });
}

async function withKeys(
  flags: KeysFlags,
  work: (store: ApiKeyStore) => Promise<string>,
  open = openExistingLog,
): Promise<never> {
  const config = readConfig(process.env, { data: flags.data });
  const opened = await open(config, flags.retry);
  try {
    process.stdout.write(`${await work(opened.log.apiKeys)}\n`);
  } finally {
    await opened.close();
  }
  return exitNow();
}

function unknown(id: string): string {
  return `No key ${JSON.stringify(id)}. npx colloquy keys list has all of them`;
}

/** @throws {ConfigError} naming the option */
function rightsOf(given: readonly string[]): readonly Right[] {
  const names = given.flatMap((text) => text.split(',')).map((name) => name.trim());
  const wrong = names.find((name) => !RIGHTS.some((right) => right === name));
  if (wrong !== undefined)
    throw new ConfigError(
      `--right must be some of ${RIGHTS.join(', ')}, got ${JSON.stringify(wrong)}`,
    );
  return RIGHTS.filter((right) => names.includes(right));
}

/** @throws {ConfigError} naming the option */
function millisecondsOf(option: string, text: string): number {
  const milliseconds = durationMs(text);
  if (milliseconds !== undefined && milliseconds >= 0) return milliseconds;
  throw new ConfigError(
    `--${option} must be a duration such as "90 days", got ${JSON.stringify(text)}`,
  );
}

function minted({ key, record }: MintedKey, more: readonly string[]): string {
  return [
    `key       ${key}`,
    `id        ${record.id}   name ${oneLine(record.name)}`,
    ...more,
    'The key is not stored, and is not shown again.',
  ].join('\n');
}

function listed(records: readonly ApiKeyRecord[]): string {
  return table(
    ['ID', 'NAME', 'TENANTS', 'ROLES', 'RIGHTS', 'STATE', 'CREATED'],
    records.map((record) => [
      record.id,
      oneLine(record.name, 40),
      oneLine(record.tenants.join(','), 40),
      oneLine(record.roles.join(',') || '-', 40),
      record.rights.join(','),
      stateOf(record),
      record.createdAt,
    ]),
  );
}

function stateOf({ revokedAt, expiresAt }: ApiKeyRecord): string {
  if (revokedAt !== undefined) return `revoked ${revokedAt}`;
  if (expiresAt === undefined) return 'valid';
  return Date.parse(expiresAt) <= Date.now() ? `expired ${expiresAt}` : `until ${expiresAt}`;
}

/** Without digests, which only the store needs. */
function shownRecord({ hash: _hash, previous, ...record }: ApiKeyRecord): object {
  return previous === undefined ? record : { ...record, previousUntil: previous.until };
}

function jsonOf({ key, record }: MintedKey): string {
  return json({ key, ...shownRecord(record) });
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
