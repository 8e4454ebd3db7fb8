/** Comparison of secrets, and the header and cookie that carry them. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';

/** Compares in a time that depends on neither text. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(expected));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The token of `Authorization: Bearer <token>`; undefined for every other header. @see RFC 6750, section 2.1 */
export function bearerOf(request: Request): string | undefined {
  return /^bearer +([\w.~+/=-]+) *$/i.exec(request.get('authorization') ?? '')?.[1];
}

/** The value of a cookie; undefined when the request has none, or several, of which one may be another page's. */
export function cookieOf(request: Request, name: string): string | undefined {
  const values = (request.headers.cookie ?? '').split(';').flatMap((pair) => {
    const [key = '', ...value] = pair.split('=');
    return key.trim() === name ? [value.join('=').trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
