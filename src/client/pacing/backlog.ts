/**
 * Estimates how long a message would wait, and gives each refused one a time of its own to return, after those of its
 * tenant that were refused before it: they return about as fast as they are taken, and not all at once.
 */
import { LRUCache } from 'lru-cache';

/** Answers from which an estimate is made. */
const SAMPLES = 8;
/** Weight of the newest answer. */
const WEIGHT = 1 / 16;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 5 * 60 * 1_000;
/** Refused messages return somewhat faster than messages are taken: the rate may rise. */
const HURRY = 0.75;
const TENANTS = 10_000;

interface Pace {
  /** Mean of the milliseconds between two answers while others waited. */
  readonly eachMs: number;
  readonly samples: number;
  readonly answeredAtMs: number;
  /** Whether messages waited after the last answer. */
  readonly waited: boolean;
}

export class Backlog {
  readonly #paces = new LRUCache<string, Pace>({ max: TENANTS });
  /** By tenant, the time at which the last of its refused messages returns. */
  readonly #lastReturnsMs = new LRUCache<string, number>({ max: TENANTS });

  /** @param waits Whether more messages of the tenant wait: otherwise the time until the next answer says nothing. */
  answered(tenant: string, waits: boolean, nowMs: number): void {
    const last = this.#paces.get(tenant);
    const { eachMs = 0, samples = 0 } = last ?? {};
    const pace = { eachMs, samples, answeredAtMs: nowMs, waited: waits };
    if (last?.waited !== true) {
      this.#paces.set(tenant, pace);
      return;
    }
    const weight = Math.max(WEIGHT, 1 / (samples + 1));
    const tookMs = nowMs - last.answeredAtMs;
    const mean = eachMs + (tookMs - eachMs) * weight;
    this.#paces.set(tenant, { ...pace, eachMs: mean, samples: samples + 1 });
  }

  /** Milliseconds until a message behind so many of its tenant gets a place; undefined while that cannot be said. */
  waitMs(tenant: string, ahead: number): number | undefined {
    const pace = this.#paces.get(tenant);
    return pace === undefined || pace.samples < SAMPLES ? undefined : pace.eachMs * (ahead + 1);
  }

  /**
   * Milliseconds after which a message that is refused now should return.
   * @param lineMs Until those that wait have their places.
   */
  refuse(tenant: string, lineMs: number, nowMs: number): number {
    const lastMs = this.#lastReturnsMs.get(tenant) ?? 0;
    const afterLineMs = nowMs + Math.max(lineMs, SHORTEST_MS);
    const returnMs = Math.max(lastMs, afterLineMs) + (this.waitMs(tenant, 0) ?? 0) * HURRY;
    const boundMs = Math.min(returnMs, nowMs + LONGEST_MS);
    this.#lastReturnsMs.set(tenant, boundMs);
    return Math.round(boundMs - nowMs);
  }
}
