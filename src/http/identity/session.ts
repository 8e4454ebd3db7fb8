/** The cookie of a session: a signed token that scripts cannot read, and that no other site can have sent. */
import type { CookieOptions } from 'express';
import { type Identify, isForDevelopment } from './identity.js';

/** A page that is open longer signs in again. */
export const MAX_SESSION_MS = 12 * 3_600_000;
/** Browsers drop cookies over 4096 bytes, with name and attributes. */
export const MAX_COOKIE_CHARS = 3_800;

/**
 * The prefix keeps other hosts of the domain from setting the cookie, and needs `Secure`. A development server has no
 * TLS. @see https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis, section 4.1.3.2
 */
export function sessionCookieOf(identify: Identify): string {
  return isForDevelopment(identify) ? 'colloquy_session' : '__Host-colloquy_session';
}

export function sessionCookieOptions(identify: Identify): CookieOptions {
  const secure = !isForDevelopment(identify);
  return { httpOnly: true, sameSite: 'strict', path: '/', secure };
}
