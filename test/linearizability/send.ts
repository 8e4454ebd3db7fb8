/** Sends one request of a history, and records it with its times. */
import { IDENTIFIED } from '../e2e/support/api.js';
import type { Input, Nanoseconds, Operation } from './history.js';
import { outcomeOf, requestOf } from './requests.js';

export interface Place {
  readonly conversationId: string;
  readonly turnId: string;
  /** Zero of the recorded times: `process.hrtime.bigint()`, as a text. */
  readonly zero: string;
}

/** Nanoseconds since that zero. The clock is CLOCK_MONOTONIC, which all processes of a machine share. */
export function nanosecondsSince(zero: string): Nanoseconds {
  return Number(process.hrtime.bigint() - BigInt(zero));
}

export interface Target {
  readonly race: Place;
  readonly toolCallId: string;
  readonly url: string;
  readonly client: number;
}

const GIVE_UP_MS = 40_000;

/** Sends one request; undefined when it had no effect for sure. */
export async function send(input: Input, target: Target): Promise<Operation | undefined> {
  const { race, client, url } = target;
  const { path, body } = requestOf(input, { ...race, toolCallId: target.toolCallId });
  const now = (): Nanoseconds => nanosecondsSince(race.zero);
  const call = now();
  try {
    const response = await fetch(`${url}/v1/conversations/${race.conversationId}${path}`, {
      method: 'POST',
      headers: { ...IDENTIFIED, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    const said = (await response.json()) as Readonly<Record<string, unknown>>;
    const outcome = outcomeOf(response.status, said);
    if (outcome === 'refused') return undefined;
    const operation = { client, call, return: now(), input };
    return outcome === 'unknown' ? operation : { ...operation, output: outcome };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : {};
    if (cause?.code === 'ECONNREFUSED') return undefined;
    return { client, call, return: now(), input };
  }
}
