/**
 * The identity where none is configured: one actor on this machine, who proves no more than that it knows a secret. The
 * secret keeps a tool that fetches addresses, and pages of other sites, from answering calls.
 */
import { randomBytes } from 'node:crypto';
import { chmod, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_TENANT } from '../../protocol/values/ids.js';
import { forDevelopment, type Identify, type Identity, RIGHTS } from './identity.js';
import { bearerOf, isSameSecret } from './secrets.js';
import { type TokenSigner, tokenSigner } from './tokens.js';

export interface DevelopmentOptions {
  /** From `developmentSecret`, or of your own. */
  readonly secret: string;
  /** Roles of the development actor. @defaultValue none */
  readonly roles?: readonly string[];
  /** @defaultValue "default" */
  readonly tenant?: string;
}

/** Id of the actor. */
export const DEVELOPER = 'developer';
/** File in the data folder: the header as `curl -H @<file>` sends it. */
export const AUTHORIZATION_FILE = 'dev-authorization';
const SECRET_BYTES = 24;
const HEADER = /^Authorization: Bearer ([\w.~+/=-]+)\s*$/;

/** Every right, `act-as` included, but never a verified answer. @throws {RangeError} for an empty secret */
export function developmentIdentity(options: DevelopmentOptions): {
  readonly identify: Identify;
  readonly tokens: TokenSigner;
} {
  const { secret, roles = [], tenant = DEFAULT_TENANT } = options;
  if (secret === '') throw new RangeError('developmentIdentity: secret must not be empty');
  const identity: Identity = {
    tenants: [tenant],
    actor: { id: DEVELOPER, ...(roles.length === 0 ? {} : { roles }) },
    verified: false,
    rights: RIGHTS,
  };
  return {
    identify: forDevelopment((request) => {
      const given = bearerOf(request);
      return given !== undefined && isSameSecret(given, secret) ? identity : undefined;
    }),
    // The secret may be short; the purpose keeps signatures from being of use for anything else.
    tokens: tokenSigner([`colloquy development tokens ${secret}`]),
  };
}

export interface DevelopmentSecret {
  readonly secret: string;
  /** Holds the header with the secret; only its owner may read it. */
  readonly file: string;
  /** True when the secret was made by this call, and no file had it before. */
  readonly isNew: boolean;
}

/**
 * The secret of a data folder: the given one, that of the folder's file, or a random one. The file is written when it
 * holds another. Processes that call this at once get one secret.
 * @throws Error when the file cannot be read or written, or holds something else
 */
export async function developmentSecret(
  folder: string,
  given?: string,
): Promise<DevelopmentSecret> {
  const file = join(folder, AUTHORIZATION_FILE);
  const kept = await keptIn(file);
  if (given === undefined && kept !== undefined) {
    await chmod(file, 0o600);
    return { secret: kept, file, isNew: false };
  }
  if (given !== undefined) {
    if (given !== kept) await write(file, given, rename);
    return { secret: given, file, isNew: false };
  }
  const made = randomBytes(SECRET_BYTES).toString('base64url');
  // A link fails where the file exists, so the first of two processes wins.
  const isFirst = await write(file, made, link).then(
    () => true,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    },
  );
  return isFirst ? { secret: made, file, isNew: true } : await developmentSecret(folder);
}

async function keptIn(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const secret = HEADER.exec(text)?.[1];
  if (secret === undefined)
    throw new Error(
      `${file} does not hold "Authorization: Bearer <secret>". Delete it for a new one`,
    );
  return secret;
}

/** Puts the whole file in its place at once, readable by its owner only. */
async function write(
  file: string,
  secret: string,
  place: (from: string, to: string) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `Authorization: Bearer ${secret}\n`, { mode: 0o600, flag: 'wx' });
  try {
    await place(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
