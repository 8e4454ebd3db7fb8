/**
 * Adds credentials to requests to an MCP server: resolved at every request, and once more when they are refused.
 * Credentials go to the server's own origin only: code that follows redirects calls this for each hop. Runs in the
 * worker.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import { MAX_MCP_CHALLENGE_CHARS } from '../../../define/mcp/limits.js';
import type { AnyMcpServer } from '../../../define/mcp/server.js';
import type { McpCaller, McpDeps, Resolved } from '../../../define/mcp/spec.js';
import type { Logger } from '../../../define/tool/context.js';
import type { Scopes } from '../../scope/scopes.js';
import type { Redactor } from '../../shared/redact.js';
import { NoCredentials } from './failures.js';

export interface CredentialsNeeds {
  readonly server: AnyMcpServer;
  /** The services and secrets of the resolvers. */
  readonly scopes: Scopes;
  readonly logger: Logger;
  /** The caller of the connection; absent: the worker itself. */
  readonly caller?: McpCaller | undefined;
  /** Collects every secret that must not appear in output. */
  readonly secrets: Redactor;
}

/** The additional arguments of resolvers. */
type Why = Pick<McpDeps, 'refused' | 'challenge'>;

/** Sends with the token and headers of the server's declaration. */
export function fetchWithCredentials(needs: CredentialsNeeds, send: FetchLike): FetchLike {
  const { transport } = needs.server;
  if (transport.type !== 'http') return send;
  const { token, headers } = transport;
  if (token === undefined && headers === undefined) return send;
  // Constant credentials would be the same again.
  const mayHaveOthers = typeof token === 'function' || typeof headers === 'function';
  return async (to, init) => {
    const dressed = async (why: Why): Promise<RequestInit> => {
      const sent = new Headers(init?.headers);
      const given = await resolved(needs, token, why);
      if (given !== undefined) {
        needs.secrets.add(given);
        sent.set('authorization', `Bearer ${given}`);
      }
      const own = (await resolved(needs, headers, why)) ?? {};
      needs.secrets.add(...Object.entries(own).flatMap(secretTexts));
      // Headers of the protocol are not replaced.
      for (const [name, value] of Object.entries(own)) if (!sent.has(name)) sent.set(name, value);
      return { ...init, headers: sent };
    };
    const response = await send(to, await dressed({ refused: false }));
    if (!mayHaveOthers || !isRefusal(response)) return response;
    await response.body?.cancel();
    const challenge = response.headers.get('www-authenticate')?.slice(0, MAX_MCP_CHALLENGE_CHARS);
    return send(to, await dressed({ refused: true, ...(challenge ? { challenge } : {}) }));
  };
}

/** Headers that never hold a secret: their values are ordinary words of results. */
const PLAIN = /^(?:accept(?:-.*)?|content-type|user-agent)$/i;
/** Schemes before a secret, also in headers of other names. */
const SCHEME = /^(?:bearer|basic|token|api-?key)\s+(.+)$/is;
const ANY_SCHEME = /^\S+\s+(.+)$/s;

/** The value of a header, and its part behind a scheme as one text: single words may be ordinary ones. */
function secretTexts([name, text]: readonly [string, string]): readonly string[] {
  if (PLAIN.test(name)) return [];
  const isAuthorization = /^(?:proxy-)?authorization$/i.test(name);
  const [, secret] = (isAuthorization ? ANY_SCHEME : SCHEME).exec(text) ?? [];
  return secret === undefined ? [text] : [text, secret];
}

/** The value itself, or the result of its resolver. @throws {NoCredentials} */
export async function resolved<Value>(
  { server, scopes, logger, caller, secrets }: CredentialsNeeds,
  value: Resolved<Value, never> | undefined,
  why: Why,
): Promise<Value | undefined> {
  if (typeof value !== 'function') return value;
  const resolve = value as (deps: McpDeps<never>) => Value | Promise<Value>;
  try {
    if (caller === undefined)
      return await resolve({ services: scopes.shared() as never, secret: noCaller, ...why });
    const { tenant, requester } = caller;
    const scope = await scopes.open({ tenant, user: requester });
    try {
      // The type of the agent guarantees these services; they are only passed on.
      const services = scope.services as never;
      const secret: McpDeps['secret'] = async (name) => {
        const found = await scope.secret(name);
        secrets.add(found);
        return found;
      };
      return await resolve({ services, secret, ...why, caller });
    } finally {
      scope.release();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn('MCP credentials not given', { mcpServer: server.name, reason });
    throw new NoCredentials();
  }
}

function noCaller(): Promise<never> {
  return Promise.reject(new Error('there is no caller here, whose secret it could be'));
}

/**
 * Credentials are missing, expired, or insufficient for this request. @see
 * https://www.rfc-editor.org/rfc/rfc6750#section-3.1
 */
function isRefusal({ status, headers }: Response): boolean {
  if (status === 401) return true;
  const challenge = headers.get('www-authenticate') ?? '';
  return status === 403 && /\berror\s*=\s*"?insufficient_scope\b/i.test(challenge);
}
