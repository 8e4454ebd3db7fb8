/** The cookie of a session: a signed token that scripts cannot read, and that no other site can have sent. */
import type { CookieOptions, Request } from 'express';
import { isLoopbackName, nameOfHost } from '../../net/hosts.js';

/** A page that is open longer signs in again. */
export const MAX_SESSION_MS = 12 * 3_600_000;
/** Browsers drop cookies over 4096 bytes, with name and attributes. */
export const MAX_COOKIE_CHARS = 3_800;

/**
 * On this machine without TLS the cookie cannot be `Secure`. Elsewhere the prefix keeps other hosts of the domain from
 * setting it. @see https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis, section 4.1.3.2
 */
export function sessionCookieOf(request: Request): string {
  return isLocal(request) ? 'colloquy_session' : '__Host-colloquy_session';
}

export function sessionCookieOptions(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: !isLocal(request) };
}

function isLocal(request: Request): boolean {
  const name = nameOfHost(request.headers.host ?? '');
  return name !== undefined && isLoopbackName(name);
}
