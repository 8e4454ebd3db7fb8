/** Calls that a person wants to see later. A snooze hides a row of one person, and changes nothing of its call. Pure. */

/** Times until which calls are hidden (milliseconds since 1970), by `ref`. */
export type Snoozes = ReadonlyMap<string, number>;

/** A call comes back so long before its deadline, however long it was snoozed. */
export const WAKE_BEFORE_MS = 10 * 60_000;
const MAX_SNOOZES = 1_000;

export function isSnoozed(
  { ref, deadline }: { readonly ref: string; readonly deadline: string },
  snoozes: Snoozes,
  now: number,
): boolean {
  const until = snoozes.get(ref);
  return until !== undefined && now < Math.min(until, Date.parse(deadline) - WAKE_BEFORE_MS);
}

/** `tomorrow`: at 9:00 by the clock of the page. */
export const SNOOZE_STEPS: readonly {
  readonly text: string;
  readonly of: (now: number) => number;
}[] = [
  { text: '1 hour', of: (now) => now + 60 * 60_000 },
  { text: 'tomorrow 9:00', of: tomorrow },
];

function tomorrow(now: number): number {
  const day = new Date(now);
  day.setDate(day.getDate() + 1);
  return day.setHours(9, 0, 0, 0);
}

/** The snoozes with another one, without those that are over; `until` undefined takes one away. */
export function withSnooze(
  snoozes: Snoozes,
  { ref, until }: { readonly ref: string; readonly until: number | undefined },
  now: number,
): Snoozes {
  const others = [...snoozes].filter(([one, end]) => one !== ref && end > now);
  return new Map(
    [...others, ...(until === undefined ? [] : [[ref, until] as const])].slice(-MAX_SNOOZES),
  );
}

export function snoozesText(snoozes: Snoozes): string {
  return JSON.stringify([...snoozes]);
}

/** None for a text that is not one of `snoozesText`: a page of another version may have kept it. */
export function snoozesOf(text: string | null): Snoozes {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(kept)) return new Map();
    return new Map(kept.filter(isEntry));
  } catch {
    return new Map();
  }
}

function isEntry(entry: unknown): entry is [string, number] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && typeof entry[1] === 'number';
}
