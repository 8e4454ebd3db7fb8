/** Limits per caller, and what a caller is. */
import type { Request } from 'express';

export interface CallerLimits {
  /** Requests in ten seconds; answers to calls count for nothing. @defaultValue 1000 */
  readonly requests?: number | 'off';
  /** Event streams that are open at once. @defaultValue 1000 */
  readonly streams?: number | 'off';
  /**
   * Names the caller. @defaultValue the tenant and the actor; on routes that need no identity, the address that the
   * connection comes from
   */
  readonly callerOf?: (request: Request) => string;
}

export const DEFAULT_REQUESTS = 1_000;
export const DEFAULT_STREAMS = 1_000;
/** Seconds in which requests are counted. */
export const WINDOW_SECONDS = 10;
