/**
 * Signed tokens: an identity and the time of its end, as JSON with an HMAC (SHA-256). They are verified without a
 * store, so a token is valid until it expires.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { type Identity, RIGHTS } from './identity.js';

export interface TokenSigner {
  sign(identity: Identity & { readonly expiresAt: Date }): string;
  /** Undefined for a token that is expired, of another secret, or none. */
  verify(token: string): Identity | undefined;
}

export const TOKEN_PREFIX = 'clt_';
/** Characters of the shortest secret that signs tokens. */
export const MIN_TOKEN_SECRET = 32;
const MAX_TOKEN_CHARS = 8_192;

/** Short names: a token also travels as a cookie. A process of a newer version may have added claims and rights. */
const ClaimsSchema = z.object({
  tenants: z.array(z.string()),
  id: z.string(),
  name: z.string().optional(),
  roles: z.array(z.string()).optional(),
  verified: z.boolean(),
  rights: z.array(z.string()),
  conversation: z.string().optional(),
  /** Milliseconds since 1970. */
  exp: z.int(),
});

/**
 * The first secret signs, all of them verify, so that a secret can be replaced while tokens of the old one live on.
 * @throws {RangeError} without a secret, or for a short one
 */
export function tokenSigner(secrets: readonly [string, ...string[]]): TokenSigner {
  for (const secret of secrets)
    if (secret.length < MIN_TOKEN_SECRET)
      throw new RangeError(`a secret of tokens must have at least ${MIN_TOKEN_SECRET} characters`);
  const macOf = (secret: string, body: string): Buffer =>
    createHmac('sha256', secret).update(`${TOKEN_PREFIX}${body}`).digest();
  return {
    sign: ({ tenants, actor, verified, rights, conversation, expiresAt }) => {
      const { id, name, roles } = actor;
      const claims = { tenants, id, name, roles, verified, rights, conversation };
      const body = textOf({ ...claims, exp: expiresAt.getTime() });
      return `${TOKEN_PREFIX}${body}.${macOf(secrets[0], body).toString('base64url')}`;
    },
    verify: (token) => {
      const [, body, mac] = /^clt_([\w-]+)\.([\w-]{43})$/.exec(token) ?? [];
      if (body === undefined || mac === undefined || token.length > MAX_TOKEN_CHARS)
        return undefined;
      const given = Buffer.from(mac, 'base64url');
      const isSigned = secrets.some((secret) => timingSafeEqual(given, macOf(secret, body)));
      return isSigned ? identityIn(body) : undefined;
    },
  };
}

function textOf(claims: object): string {
  return Buffer.from(JSON.stringify(claims)).toString('base64url');
}

function identityIn(body: string): Identity | undefined {
  const text = Buffer.from(body, 'base64url').toString();
  const parsed = ClaimsSchema.safeParse(JSON.parse(text));
  if (!parsed.success || parsed.data.exp <= Date.now()) return undefined;
  const { tenants, id, name, roles, verified, rights, conversation, exp } = parsed.data;
  return {
    tenants,
    actor: {
      id,
      ...(name === undefined ? {} : { name }),
      ...(roles === undefined ? {} : { roles }),
    },
    verified,
    rights: RIGHTS.filter((right) => rights.includes(right)),
    ...(conversation === undefined ? {} : { conversation }),
    expiresAt: new Date(exp),
  };
}
