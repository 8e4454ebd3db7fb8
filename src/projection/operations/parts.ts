/** Parts of the view of operators: each is read within a deadline, and says why it could not be. */
import { messageOf } from '../../client/temporal/errors.js';
import { orLate } from '../../client/temporal/waiting.js';
import { chainOf } from '../../client/workers/listening.js';
import type { SeenPart } from '../../protocol/log/operations.js';
import { firstLineOf } from '../../protocol/values/trouble.js';

/** Milliseconds; a server or store that hangs must not hold up the page. */
export const PART_DEADLINE_MS = 3_000;

/** Never rejects. */
export async function seen<Found extends object>(
  read: () => Promise<Found>,
  deadlineMs = PART_DEADLINE_MS,
): Promise<SeenPart<Found>> {
  try {
    const late = (): undefined => undefined;
    const found = await orLate(deadlineMs, read(), late);
    if (found === undefined) return unavailable(`No answer within ${deadlineMs / 1_000} s`);
    return { status: 'known', ...found };
  } catch (error) {
    return unavailable(reasonOf(error));
  }
}

/** The client's errors say which call failed; their cause says why. */
export function reasonOf(error: unknown): string {
  const cause = chainOf(error).at(-1);
  const texts = [messageOf(error), ...(cause === undefined ? [] : [cause.message])];
  return firstLineOf([...new Set(texts)].join(': '));
}

function unavailable(reason: string): { readonly status: 'unavailable'; readonly reason: string } {
  return { status: 'unavailable', reason };
}

/** Milliseconds for which a look is shared: a page asks each 5 s, in any number of tabs. */
const SHARED_MS = 2_000;
/** Tenants whose looks are kept. */
const MAX_KEPT = 100;

/** Looks by name: those who ask meanwhile, and shortly after, share one. */
export class SharedLooks<Value> {
  readonly #looks = new Map<string, { endedAt?: number; readonly value: Promise<Value> }>();
  readonly #now: () => number;

  /** @param now Milliseconds of a steady clock. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** `look` must not reject. */
  async of(name: string, look: () => Promise<Value>): Promise<Value> {
    const kept = this.#looks.get(name);
    const isFresh = kept?.endedAt === undefined || this.#now() - kept.endedAt < SHARED_MS;
    if (kept !== undefined && isFresh) return await kept.value;
    this.#looks.delete(name);
    const [oldest] = this.#looks.keys();
    if (oldest !== undefined && this.#looks.size >= MAX_KEPT) this.#looks.delete(oldest);
    const made: { endedAt?: number; readonly value: Promise<Value> } = {
      value: look().finally(() => {
        made.endedAt = this.#now();
      }),
    };
    this.#looks.set(name, made);
    return await made.value;
  }
}
