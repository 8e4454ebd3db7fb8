/** The processes of a recording: two workers and two APIs that are killed, and the clients. */
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Child } from 'colloquy/dev';
import type { World } from '../e2e/support/world.js';
import { Dice } from '../support/dice.js';
import type { Race, Raced } from './client.js';

const TARGETS = ['worker_1', 'worker_2', 'api_1', 'api_2'] as const;
type Target = (typeof TARGETS)[number];

const FIRST_MS = 3_000;
const MIN_PAUSE_MS = 2_000;
const SPREAD_MS = 5_000;
const LONGEST_AWAY_MS = 1_500;
/** Both workers are killed once in so many times: answers become signals, and requests stay without a reply. */
const BOTH_ONE_IN = 6;

export class Killed {
  readonly kills: Record<Target, number> = { worker_1: 0, worker_2: 0, api_1: 0, api_2: 0 };
  readonly urls: readonly [string, string];
  readonly #world: World;
  readonly #running: Map<Target, Child>;
  readonly #restarts = new Map<Target, Promise<void>>();

  private constructor(world: World, running: Map<Target, Child>, urls: readonly [string, string]) {
    this.#world = world;
    this.#running = running;
    this.urls = urls;
  }

  /** The first worker and API are those of the world, which stops all of them. */
  static async start(world: World): Promise<Killed> {
    const worker1 = world.stack.worker();
    const api2 = await world.startApi(0);
    const running = new Map<Target, Child>([
      ['worker_1', worker1],
      ['worker_2', await world.stack.startWorker()],
      ['api_1', world.stack.api],
      ['api_2', api2],
    ]);
    return new Killed(world, running, [world.apiUrl, api2.url.replace(/\/$/, '')]);
  }

  /** Kills processes until the signal fires, at times and in an order drawn from the seed; all serve when it resolves. */
  async strike(seed: number, signal: AbortSignal): Promise<void> {
    const dice = new Dice(seed);
    await sleep(FIRST_MS, undefined, { signal }).catch(() => undefined);
    while (!signal.aborted) {
      const target = dice.pick(TARGETS);
      const isBoth = target.startsWith('worker') && dice.oneIn(BOTH_ONE_IN);
      for (const one of isBoth ? (['worker_1', 'worker_2'] as const) : [target])
        this.#kill(one, dice.below(LONGEST_AWAY_MS));
      const pauseMs = MIN_PAUSE_MS + dice.below(SPREAD_MS);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    await Promise.all(this.#restarts.values());
  }

  /** A process that is not back yet is left alone. */
  #kill(target: Target, awayMs: number): void {
    if (this.#restarts.has(target)) return;
    this.kills[target] += 1;
    const restart = async (): Promise<void> => {
      await this.#running.get(target)?.kill();
      await sleep(awayMs);
      this.#running.set(target, await this.#start(target));
      this.#restarts.delete(target);
    };
    this.#restarts.set(target, restart());
  }

  async #start(target: Target): Promise<Child> {
    if (target === 'worker_1' || target === 'worker_2')
      return await this.#world.stack.startWorker();
    const url = this.urls[target === 'api_1' ? 0 : 1];
    return await this.#world.startApi(Number(new URL(url).port));
  }
}

const CLIENT = fileURLToPath(new URL('./client.ts', import.meta.url));
const HOOKS = fileURLToPath(new URL('../support/typescript-hooks.mjs', import.meta.url));

/** Client processes; each takes part in every race. */
export class Clients {
  readonly #children: readonly ChildProcess[];
  readonly #waiting = new Map<string, (raced: Raced) => void>();
  readonly #failed: Promise<never>;

  constructor(count: number, urls: readonly string[]) {
    this.#children = Array.from({ length: count }, (_, number) =>
      fork(CLIENT, [String(number), ...urls], { execArgv: ['--import', HOOKS] }),
    );
    for (const [number, child] of this.#children.entries())
      child.on('message', (raced: Raced) => {
        this.#waiting.get(`${number} ${raced.conversationId}`)?.(raced);
      });
    this.#failed = Promise.race(
      this.#children.map(async (child, number) => {
        const code = await new Promise((resolve) => {
          child.once('exit', resolve);
        });
        throw new Error(`client ${number} ended with ${String(code)}`);
      }),
    );
    this.#failed.catch(() => undefined);
  }

  get count(): number {
    return this.#children.length;
  }

  /** Resolves with the operations of every client. @throws when a client process has ended */
  async race(race: Race): Promise<readonly Raced[]> {
    const all = this.#children.map((child, number) => this.#raceIn(child, number, race));
    return await Promise.race([Promise.all(all), this.#failed]);
  }

  async #raceIn(child: ChildProcess, number: number, race: Race): Promise<Raced> {
    const key = `${number} ${race.conversationId}`;
    return await new Promise((resolve) => {
      this.#waiting.set(key, (raced) => {
        this.#waiting.delete(key);
        resolve(raced);
      });
      child.send(race);
    });
  }

  stop(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}
