/** The variables of the environment that say who may use the API. */
import { z } from 'zod';
import { RIGHTS } from '../../http/identity/identity.js';
import type { JwtOptions } from '../../http/identity/jwt.js';
import { MIN_TOKEN_SECRET } from '../../http/identity/tokens.js';
import { ConfigError } from './config-error.js';
import { filled, list } from './forms.js';

export const IDENTITY_VARIABLES = {
  COLLOQUY_IDENTITY: list
    .prefault('development')
    .pipe(
      z.union(
        [z.tuple([z.literal('development')]), z.array(z.enum(['keys', 'jwt'])).min(1)],
        'must be development, or keys, jwt or both, separated by a comma',
      ),
    )
    .describe(
      'Who may use the API: `development` (one developer on this machine), or holders of API keys (`keys`), of tokens of an issuer (`jwt`), or of both (`keys,jwt`).',
    ),
  COLLOQUY_JWT_JWKS: z
    .url({ protocol: /^https?$/, error: 'must be an address with http:// or https://' })
    .optional()
    .describe('Address of the public keys (JWKS) of the issuer of tokens.'),
  COLLOQUY_JWT_ISSUER: filled.optional().describe('The `iss` of its tokens.'),
  COLLOQUY_JWT_AUDIENCE: filled.optional().describe('The `aud` of tokens for this API.'),
  COLLOQUY_JWT_TENANT_CLAIM: filled
    .default('tenant')
    .describe('Claim with the tenants of a caller; a path has dots (`org.id`).'),
  COLLOQUY_JWT_ROLES_CLAIM: filled.default('roles').describe('Claim with the roles of a caller.'),
  COLLOQUY_JWT_RIGHTS_CLAIM: filled.default('scope').describe('Claim with the rights of a caller.'),
  COLLOQUY_JWT_RIGHTS: list
    .pipe(
      z.array(
        z.enum(RIGHTS, `each of them, separated by commas, must be one of ${RIGHTS.join(', ')}`),
      ),
    )
    .default([])
    .describe(
      'Rights of callers without that claim, separated by commas, such as `read,send,answer`.',
    ),
  COLLOQUY_JWT_CLOCK_SKEW: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number of seconds, at most 999')
    .transform(Number)
    .prefault('30')
    .describe('Seconds by which the clock of the issuer may differ.'),
  COLLOQUY_TOKEN_SECRETS: list
    .refine(
      (secrets) => secrets.every((secret) => secret.length >= MIN_TOKEN_SECRET),
      `each of them, separated by commas, must have at least ${MIN_TOKEN_SECRET} characters`,
    )
    .optional()
    .describe(
      'Secrets that sign tokens of conversations and sessions of pages, separated by commas: the first signs, all are accepted; every API needs the same. Absent: no such tokens.',
    ),
  COLLOQUY_PROVIDER_FILES: filled
    .optional()
    .describe(
      'Module (`.js`, or `.ts` as Node runs it) that exports `providerFiles`: it says who owns a file at the provider of the models. Absent: ids of such files are refused.',
    ),
  COLLOQUY_DEV_SECRET: z
    .string()
    .regex(
      /^[\w.~+/=-]{16,200}$/,
      'must have 16 to 200 characters: letters, digits, or - . _ ~ + / =',
    )
    .optional()
    .describe(
      'Secret of the development identity; otherwise a random one, kept in the file `dev-authorization` of the data folder.',
    ),
  COLLOQUY_DEV_ROLES: list
    .transform((roles) => roles.filter((role) => role !== ''))
    .default([])
    .describe('Roles of the actor `developer` of the development identity, separated by commas.'),
};

type Values = z.output<z.ZodObject<typeof IDENTITY_VARIABLES>>;

/** @throws {ConfigError} naming the variables that are needed together */
export function jwtOf(values: Values): JwtOptions | undefined {
  const { COLLOQUY_JWT_JWKS: jwks, COLLOQUY_JWT_ISSUER: issuer } = values;
  const audience = values.COLLOQUY_JWT_AUDIENCE;
  const isUsed = values.COLLOQUY_IDENTITY.some((scheme) => scheme === 'jwt');
  if (jwks !== undefined && issuer !== undefined && audience !== undefined && isUsed)
    return {
      ...{ jwks, issuer, audience },
      clockSkewS: values.COLLOQUY_JWT_CLOCK_SKEW,
      claims: {
        tenant: values.COLLOQUY_JWT_TENANT_CLAIM,
        roles: values.COLLOQUY_JWT_ROLES_CLAIM,
        rights: values.COLLOQUY_JWT_RIGHTS_CLAIM,
      },
      rights: values.COLLOQUY_JWT_RIGHTS,
    };
  if (!isUsed && jwks === undefined) return undefined;
  throw new ConfigError(
    'Tokens of an issuer need COLLOQUY_IDENTITY=jwt (or keys,jwt), COLLOQUY_JWT_JWKS, COLLOQUY_JWT_ISSUER and COLLOQUY_JWT_AUDIENCE',
  );
}
