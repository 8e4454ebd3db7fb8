/** The processes that a storm hits: two workers of which one remembers few runs, and the HTTP API. */

import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Child, startChild } from 'colloquy/dev';
import type { World } from '../e2e/support/world.js';
import type { Fault, Target } from './faults.js';

/** Pause between the end of one fault of a process and its next. */
const SERVES_MS = 4_000;
const LOOK_MS = 50;
const SMALL_WORKER = fileURLToPath(new URL('./small-worker.ts', import.meta.url));

export class StormProcesses {
  readonly #world: World;
  readonly #agents: string;
  readonly #onLine: (line: string, from: string) => void;
  readonly #running = new Map<Target, Child>();
  /** Times by `performance.now()` since when each process serves; absent while it does not. */
  readonly #servesSince = new Map<Target, number>();
  /** Faults of one process come one after the other. */
  readonly #last = new Map<Target, Promise<void>>();
  #isOver = false;

  constructor(
    world: World,
    options: { readonly agents: string; readonly onLine: (line: string, from: string) => void },
  ) {
    this.#world = world;
    this.#agents = options.agents;
    this.#onLine = options.onLine;
    this.#running.set('worker_1', world.stack.worker());
    this.#running.set('api', world.stack.api);
    for (const target of this.#running.keys()) this.#servesSince.set(target, performance.now());
    process.once('exit', this.#killAll);
  }

  /** The second worker; the first and the API are those of the world. */
  async start(): Promise<void> {
    await this.#restart('worker_2');
  }

  /**
   * Resolves when all of them have served for a while: where a start takes long, no work would be done between two
   * kills.
   */
  async haveServed(targets: readonly Target[]): Promise<void> {
    const hasServed = (target: Target): boolean =>
      performance.now() - (this.#servesSince.get(target) ?? Infinity) > SERVES_MS;
    while (!targets.every(hasServed)) await sleep(LOOK_MS);
  }

  /** Resolves when the fault is over and its processes serve again. */
  async hit({ kind, targets, forMs }: Fault): Promise<void> {
    if (kind === 'roll_over') return;
    await Promise.all(
      targets.map((target) => {
        const before = this.#last.get(target) ?? Promise.resolve();
        const strike = kind === 'kill' ? this.#kill : this.#freeze;
        this.#servesSince.delete(target);
        const after = before.then(() => strike(target, forMs));
        this.#last.set(target, after);
        return after;
      }),
    );
  }

  /** Ends the faults in progress at once; every process serves when it resolves. */
  async calm(): Promise<void> {
    this.#isOver = true;
    for (const child of this.#running.values())
      if (child.alive()) process.kill(child.pid, 'SIGCONT');
    await Promise.all(this.#last.values());
    for (const [target, child] of this.#running) if (!child.alive()) await this.#restart(target);
  }

  /** Called before the world stops. */
  async stop(): Promise<void> {
    await this.calm();
    await Promise.all([...this.#running.values()].map((child) => child.stop()));
    process.off('exit', this.#killAll);
  }

  /** A frozen process would not see that this one is gone. */
  readonly #killAll = (): void => {
    for (const child of this.#running.values()) void child.kill();
  };

  readonly #kill = async (target: Target, forMs: number): Promise<void> => {
    if (this.#isOver) return;
    await this.#running.get(target)?.kill();
    await this.#pause(forMs);
    await this.#restart(target);
  };

  readonly #freeze = async (target: Target, forMs: number): Promise<void> => {
    const child = this.#running.get(target);
    if (this.#isOver || child?.alive() !== true) return;
    process.kill(child.pid, 'SIGSTOP');
    await this.#pause(forMs);
    if (child.alive()) process.kill(child.pid, 'SIGCONT');
    this.#servesSince.set(target, performance.now());
  };

  async #pause(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (!this.#isOver && performance.now() < until)
      await sleep(Math.min(50, Math.max(1, until - performance.now())));
  }

  async #restart(target: Target): Promise<void> {
    this.#running.set(target, await this.#started(target));
    this.#servesSince.set(target, performance.now());
  }

  async #started(target: Target): Promise<Child> {
    const { stack, startApi, env } = this.#world;
    if (target === 'worker_1') return await stack.startWorker();
    if (target === 'api') return await startApi(Number(new URL(this.#world.apiUrl).port));
    return await startChild({
      name: target,
      script: SMALL_WORKER,
      args: [this.#agents],
      env,
      onLine: (line) => this.#onLine(line, target),
    });
  }
}
