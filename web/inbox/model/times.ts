/** Deadlines in words. Pure. */
import { durationWords } from 'colloquy/react';

export interface DeadlineState {
  readonly text: string;
  /** The part of the time that is left, from 0 to 1. */
  readonly left: number;
  readonly isSoon: boolean;
  readonly isOver: boolean;
}

/** Less time than this is soon. */
const SOON_MS = 5 * 60_000;

export function deadlineState(
  { openedAt, deadline }: { readonly openedAt: string; readonly deadline: string },
  now: number,
): DeadlineState {
  const [from, end] = [Date.parse(openedAt), Date.parse(deadline)];
  const ms = end - now;
  const whole = Math.max(1, end - from);
  return {
    text: ms <= 0 ? `deadline passed ${durationWords(-ms)} ago` : `${durationWords(ms)} left`,
    left: Math.min(1, Math.max(0, ms / whole)),
    isSoon: ms < SOON_MS,
    isOver: ms <= 0,
  };
}
