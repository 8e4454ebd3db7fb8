/** Answers that a caller may have already: an `ETag` of their content, and 304 without a body for `If-None-Match`. */
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';

/** Sends JSON with a tag of its content. Caches keep it, and ask each time whether it still holds. */
export function sendTagged(request: Request, response: Response, body: object): void {
  const text = JSON.stringify(body);
  const tag = createHash('sha256').update(text).digest('base64url').slice(0, 27);
  if (!isKnown(request, response, `"${tag}"`)) response.type('application/json').send(text);
}

/** Sets the tag of a 200 answer; true when the caller has the content: then 304 is sent. */
export function isKnown(request: Request, response: Response, tag: string): boolean {
  response.setHeader('ETag', tag);
  response.setHeader('Cache-Control', 'private, no-cache');
  if (!namesTag(request.get('if-none-match'), tag)) return false;
  response.status(304).end();
  return true;
}

/**
 * Not express's `request.fresh`: it is false for `Cache-Control: no-cache`, which is meant for caches, and which `fetch`
 * adds to every request with `If-None-Match`. @see RFC 9110, section 13.1.2
 */
function namesTag(header: string | undefined, tag: string): boolean {
  const named = header?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return named.includes('*') || named.includes(tag);
}
