/** Inputs and claims that the dice can choose. */
import type { ClaimOptions, PendingCall } from 'colloquy/client';
import type { Dice } from '../../../support/dice.js';
import { MOODS, ODD_WORDS } from './juggler-model.js';

/** An actor that may resolve every call. */
export const BOSS = { id: 'boss', roles: ['operator'] };
export const ANN = { id: 'ann' };

const WEIGHTS = {
  message: 6,
  resolve: 14,
  wrong: 4,
  repeat: 3,
  extend: 2,
  claim: 5,
  cancel: 1,
  rollOver: 1,
  event: 2,
  garbage: 1,
  burst: 4,
} as const;
export type Step = keyof typeof WEIGHTS;
export const STEPS = (Object.keys(WEIGHTS) as Step[]).flatMap((step) =>
  Array.from({ length: WEIGHTS[step] }, () => step),
);

export const TOOLS = [
  ...['quick', 'nap', 'later', 'crash', 'moody', 'note'],
  ...['once.pay', 'once.sure', 'once.held', 'guarded', 'guarded', 'once.pay'],
  ...[
    'curious',
    'curious',
    'ask',
    'hasty',
    'cart',
    'wipe',
    'fetch',
    'hurry',
    'order',
    ...ODD_WORDS,
  ],
] as const;

/** A message that requests some calls, in one step or two: see `juggler-model.ts`. */
export function randomText(dice: Dice, id: string, words: readonly string[]): string {
  const steps = Array.from({ length: 1 + dice.below(2) }, () =>
    Array.from({ length: dice.below(5) }, () => dice.pick(words)).join(' '),
  );
  const mood = dice.oneIn(4) ? dice.pick(MOODS) : '';
  return `do ${mood}${id}: ${steps.join(' | ')}`;
}

/** Claims a call for a second or a minute, or renews a claim. A holder for one second hardly ever answers in time. */
export function randomClaim(
  dice: Dice,
  pending: readonly PendingCall[],
): (ClaimOptions & { readonly toolCallId: string }) | undefined {
  const call = dice.pick(pending.filter(({ kind }) => kind.endsWith('_execution')));
  if (call === undefined) return undefined;
  const claimId = dice.oneIn(3) ? call.claim?.claimId : undefined;
  const actor = dice.oneIn(4) ? ANN : BOSS;
  return {
    toolCallId: call.toolCallId,
    // At the end the boss answers everything, without waiting for a lease.
    lease: actor === ANN ? '1s' : dice.pick(['1s', '1 minute']),
    actor,
    ...(claimId === undefined ? {} : { claimId }),
  };
}
