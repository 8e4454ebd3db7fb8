/** The row of an operation in the description of the API. */
import type { z } from 'zod';
import type { RouteRight } from '../identity/identity.js';

export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  /** As the router has it: `/v1/conversations/:id`. */
  readonly path: string;
  /** Name in clients that are generated from the description. */
  readonly id: string;
  /** Needed of the caller, and said as a security requirement. */
  readonly right: RouteRight;
  /**
   * For a route whose path names no conversation: callers that are bound to one may use it, because the route itself
   * refuses all others.
   */
  readonly bound?: true;
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** Several: one of them. */
  readonly bodies?: readonly z.ZodType[];
  /** The body is a file of any type. */
  readonly takesFile?: true;
  /**
   * Takes the header `Idempotency-Key`. `'itself'`: a repeat has no further effect with or without a key, so the key is
   * checked for its form only.
   */
  readonly idempotent?: true | 'itself';
  /** Answers with an `ETag`, and takes `If-None-Match`. */
  readonly tagged?: true;
  /** Shapes of the answers by status. `'file'`: bytes; `'none'`: no body; `'stream'`: server-sent events. */
  readonly answers: Readonly<Record<number, z.ZodType | 'file' | 'none' | 'stream'>>;
  /** The other form of the answer, for `Accept: text/event-stream`. */
  readonly streams?: true;
}
