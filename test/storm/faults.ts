/**
 * Faults of a storm and their times: drawn from the seed alone, so that a seed repeats the faults in their order.
 */
import { Dice } from '../support/dice.js';

/** A worker, both of them, or the process of the HTTP API. */
export type Target = 'worker_1' | 'worker_2' | 'api';

export interface Fault {
  /** Milliseconds since the storm began. */
  readonly atMs: number;
  /**
   * `kill`: SIGKILL, and a new process after the time. `freeze`: SIGSTOP, and SIGCONT after it. `roll_over`: every
   * conversation gets the request.
   */
  readonly kind: 'kill' | 'freeze' | 'roll_over';
  /** Hit at the same moment. */
  readonly targets: readonly Target[];
  readonly forMs: number;
}

const FIRST_MS = 2_000;
const MIN_PAUSE_MS = 1_500;
const SPREAD_MS = 4_500;
/**
 * Above the time in which a lost activity is noticed (10 s): the activities of the frozen worker continue elsewhere
 * meanwhile.
 */
const LONGEST_FREEZE_MS = 14_000;

type Draw = (dice: Dice) => Omit<Fault, 'atMs'>;

const WORKERS = ['worker_1', 'worker_2'] as const;
const killOne: Draw = (dice) => ({
  kind: 'kill',
  targets: [dice.pick(WORKERS)],
  forMs: dice.below(2_000),
});
const killBoth: Draw = (dice) => ({ kind: 'kill', targets: WORKERS, forMs: dice.below(2_000) });
const freezeShort: Draw = (dice) => ({
  kind: 'freeze',
  targets: [dice.pick(WORKERS)],
  forMs: 200 + dice.below(3_000),
});
const freezeLong: Draw = (dice) => ({
  kind: 'freeze',
  targets: [dice.pick(WORKERS)],
  forMs: LONGEST_FREEZE_MS - dice.below(8_000),
});
const freezeBoth: Draw = (dice) => ({
  kind: 'freeze',
  targets: WORKERS,
  forMs: 500 + dice.below(5_000),
});
const killApi: Draw = (dice) => ({ kind: 'kill', targets: ['api'], forMs: dice.below(1_000) });
const rollOver: Draw = () => ({ kind: 'roll_over', targets: [], forMs: 0 });

/** Each is drawn as often as it is listed here. */
const DRAWS: readonly [Draw, ...Draw[]] = [
  ...([killOne, killOne, killOne, killBoth, freezeShort, freezeShort] as const),
  ...([freezeLong, freezeBoth, killApi, killApi, rollOver, rollOver] as const),
];

/** Faults of a storm of that length, oldest first. */
export function faultsOf(seed: number, lengthMs: number): readonly Fault[] {
  const dice = new Dice(seed);
  const faults: Fault[] = [];
  for (let atMs = FIRST_MS; atMs < lengthMs; atMs += MIN_PAUSE_MS + dice.below(SPREAD_MS))
    faults.push({ atMs, ...dice.pick(DRAWS)(dice) });
  return faults;
}

export function nameOf({ kind, targets, forMs }: Fault): string {
  if (kind === 'roll_over') return 'roll-over of every conversation';
  return `${kind} ${targets.join(' and ')} for ${forMs} ms`;
}
