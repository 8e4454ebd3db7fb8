/** The requests that one client sends about one call, drawn from a seed. */
import type { Dice } from '../support/dice.js';
import { canonical, type Input, type Kind } from './history.js';

const LONG_LEASE_MS = 600_000;
const SHORT_LEASE_MS = 1_000;

/** One client at one call. */
export interface Player {
  readonly client: number;
  /** Two clients share each actor: tabs of one user are two clients. */
  readonly actor: string;
  readonly kind: Kind;
  /** The deadline when the race began. */
  readonly deadlineMs: number;
  /** True when answers are likely from the first step on; all clients of a call have the same. */
  readonly isEager: boolean;
  /** The client's earlier requests about the call, oldest first. */
  readonly sent: readonly Input[];
  /** The newest claim that the client was given. */
  readonly claimId: string | undefined;
}

type Draw = (dice: Dice, player: Player) => Input;

/** The next request, where `step` were sent before. */
export function drawRequest(dice: Dice, player: Player, step: number): Input {
  const { kind, isEager, sent, claimId } = player;
  const isOfClients = kind === 'external' || kind === 'leased';
  const weights: readonly (readonly [Draw, number])[] = [
    [answer, isEager ? 4 : kind === 'leased' ? step : 2 * step],
    [misfit, kind === 'approval' ? 0 : 1],
    [extend, 3],
    [repeat, sent.length === 0 ? 0 : 2],
    [claim, isOfClients && claimId === undefined ? 6 : isOfClients ? 2 : 0],
    [renew, isOfClients && claimId !== undefined ? 5 : 0],
    [foreignRenewal, isOfClients ? 1 : 0],
  ];
  const draws = weights.flatMap(([draw, weight]) => Array.from({ length: weight }, () => draw));
  return (dice.pick(draws) ?? extend)(dice, player);
}

/** Milliseconds until the next request: long enough for a short lease to end, where there is one. */
export function drawPause(dice: Dice, kind: Kind): number {
  return kind === 'leased' ? dice.below(1_800) : dice.below(250);
}

export function drawCancel(dice: Dice, { client, actor }: Pick<Player, 'client' | 'actor'>): Input {
  const requestId = dice.oneIn(2) ? 'stop' : `stop-${client}`;
  return { op: 'cancel', actor, requestId };
}

const answer: Draw = (dice, player) => {
  const contents = {
    approval: [{ type: 'approve' }, { type: 'approve' }, { type: 'deny', reason: 'no' }],
    question: [
      { type: 'answer', value: { word: 'yes' } },
      { type: 'answer', value: { word: 'no' } },
      { type: 'decline', reason: 'later' },
    ],
    external: [
      { type: 'result', value: { frames: player.client } },
      { type: 'error', message: 'broken' },
    ],
  };
  const of = contents[player.kind === 'leased' ? 'external' : player.kind];
  const content = canonical(of[dice.below(of.length)]);
  return { op: 'resolve', content, ...idOf(dice, player, 'answer'), ...claimOf(dice, player) };
};

const misfit: Draw = (dice, player) => {
  const type = player.kind === 'question' ? 'answer' : 'result';
  const content = canonical({ type, value: { odd: true } });
  const by = { ...idOf(dice, player, 'answer'), ...claimOf(dice, player) };
  return { op: 'resolve', content, misfit: true, ...by };
};

const extend: Draw = (dice, player) => {
  const by = idOf(dice, player, 'extend');
  if (dice.oneIn(3))
    return { op: 'extend', untilMs: player.deadlineMs + 20_000 * dice.below(6), ...by };
  return { op: 'extend', byMs: 1_000 * (1 + dice.below(3)), ...by };
};

const repeat: Draw = (dice, player) => dice.pick(player.sent) ?? extend(dice, player);

const claim: Draw = (dice, player) => ({
  op: 'claim',
  leaseMs: leaseOf(player),
  ...idOf(dice, player, 'claim'),
});

const renew: Draw = (dice, player) => ({
  ...claim(dice, player),
  ...(player.claimId === undefined ? {} : { claimId: player.claimId }),
  ...(dice.oneIn(2) && player.claimId !== undefined ? { renewOnly: true } : {}),
});

const foreignRenewal: Draw = (dice, player) => ({
  ...claim(dice, player),
  claimId: 'claim_0_of_another',
  renewOnly: true,
});

function leaseOf({ kind }: Player): number {
  return kind === 'leased' ? SHORT_LEASE_MS : LONG_LEASE_MS;
}

function claimOf(dice: Dice, { claimId }: Player): Pick<Input, 'claimId'> {
  return claimId === undefined || dice.oneIn(6) ? {} : { claimId };
}

/** An id of the client's own, one that other clients use too, or none. */
function idOf(
  dice: Dice,
  { client, actor, sent }: Player,
  verb: string,
): Pick<Input, 'actor' | 'requestId'> {
  if (dice.oneIn(10)) return { actor };
  if (dice.oneIn(3)) return { actor, requestId: `shared-${verb}-${dice.below(2)}` };
  return { actor, requestId: `${verb}-${client}-${sent.length}` };
}
