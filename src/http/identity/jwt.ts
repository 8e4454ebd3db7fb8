/** JSON Web Tokens of an issuer of the application, verified by the keys that it publishes (JWKS). */
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { ConversationError } from '../../client/api/errors.js';
import type { Actor } from '../../protocol/values/actors.js';
import { isRecord } from '../../protocol/values/json.js';
import { checkIdentity, type Identify, type Identity, RIGHTS, type Right } from './identity.js';
import { bearerOf } from './secrets.js';

export interface JwtOptions {
  /** Address of the issuer's keys. They are read again when a token names one that is not known. */
  readonly jwks: string;
  /** The `iss` of tokens. */
  readonly issuer: string;
  /** One of the `aud` of tokens. */
  readonly audience: string;
  /** Seconds by which the clocks may differ. @defaultValue 30 */
  readonly clockSkewS?: number;
  readonly claims?: JwtClaims;
  /** Rights where the claim is absent. @defaultValue none */
  readonly rights?: readonly Right[];
  /** Tenant where the claim is absent. @defaultValue none: such a token is refused */
  readonly tenant?: string;
}

/**
 * Names of claims; a name with dots that is none itself is a path (`realm_access.roles`). Each claim may be a text, with
 * several values separated by spaces, or a list.
 */
export interface JwtClaims {
  /** @defaultValue "tenant" */
  readonly tenant?: string;
  /** @defaultValue "roles" */
  readonly roles?: string;
  /** Values that are no rights are left out. @defaultValue "scope" */
  readonly rights?: string;
}

/** Signatures by a key pair. A token cannot be signed by what is published, nor by nothing. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const CLOCK_SKEW_S = 30;
/** Milliseconds for which keys are kept. */
const KEYS_MS = 600_000;

/**
 * Identifies callers by `Authorization: Bearer <JWT>`: `sub` is the id of the actor, `name` its name, and the identity
 * ends with `exp`. Other bearer tokens are left to other schemes (`anyOf`). The keys are read again after ten minutes
 * and for a token that names another; tokens that come while they cannot be read are answered 503
 * `identity_unavailable`. A token with claims that break a rule of identities is answered 401 that names the rule.
 * @throws {TypeError} when `jwks` is no address
 */
export function jwtIdentity(options: JwtOptions): Identify {
  const keys = createRemoteJWKSet(new URL(options.jwks), { cacheMaxAge: KEYS_MS });
  return async (request) => {
    const token = bearerOf(request);
    if (token === undefined || token.split('.').length !== 3) return undefined;
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, keys, {
        issuer: options.issuer,
        audience: options.audience,
        algorithms: ALGORITHMS,
        clockTolerance: options.clockSkewS ?? CLOCK_SKEW_S,
        requiredClaims: ['sub', 'exp'],
      }));
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw new ConversationError(
        'identity_unavailable',
        'The keys of the issuer of tokens cannot be read',
        { cause: error },
      );
    }
    const identity = identityIn(payload, options);
    if (identity !== undefined) checkClaims(identity);
    return identity;
  };
}

/** Every other error is of the network, or of an issuer that answers something else than keys. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  );
}

/** The claims come from outside: one that breaks a rule is no fault of the application. */
function checkClaims(identity: Identity): void {
  try {
    checkIdentity(identity);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConversationError('unauthenticated', `The claims of the token: ${reason}`);
  }
}

function identityIn(payload: JWTPayload, options: JwtOptions): Identity | undefined {
  const { sub, exp, name } = payload;
  const { claims = {}, tenant, clockSkewS = CLOCK_SKEW_S } = options;
  const tenants =
    valuesOf(payload, claims.tenant ?? 'tenant') ?? (tenant === undefined ? undefined : [tenant]);
  if (sub === undefined || sub === '' || exp === undefined || !tenants?.length) return undefined;
  const roles = valuesOf(payload, claims.roles ?? 'roles') ?? [];
  const rights = valuesOf(payload, claims.rights ?? 'scope') ?? options.rights ?? [];
  const actor: Actor = { id: sub, roles, ...(typeof name === 'string' ? { name } : {}) };
  return {
    tenants,
    actor,
    verified: true,
    rights: RIGHTS.filter((right) => rights.includes(right)),
    expiresAt: new Date((exp + clockSkewS) * 1_000),
  };
}

function valuesOf(payload: JWTPayload, claim: string): readonly string[] | undefined {
  const value = payload[claim] ?? at(payload, claim.split('.'));
  if (typeof value === 'string') return value.split(' ').filter((part) => part !== '');
  if (!Array.isArray(value)) return undefined;
  return value.filter((part) => typeof part === 'string');
}

function at(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return isRecord(value) && Object.hasOwn(value, name) ? at(value[name], rest) : undefined;
}
