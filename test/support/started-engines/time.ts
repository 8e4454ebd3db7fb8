/**
 * An engine on the time-skipping server. The server has no search attributes, and its clock stands still between two
 * calls of `pass`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { onTestFinished } from 'vitest';
import { type Engine, type EngineOptions, startEngine } from '../engine/engine.js';
import { timeSkippingEnvironment } from '../histories/time-skipping.js';
import { PATIENCE } from '../patience.js';
import { until } from '../until.js';

const LAST_MOMENT_MS = 2_000;
/** All requests are answered within a second on a calm machine. */
const STILL_MS = 30_000;

export interface TimedEngine {
  readonly engine: Engine;
  /** Advances the time by this much and fires every timer on the way. */
  pass(duration: Parameters<TestWorkflowEnvironment['sleep']>[0]): Promise<void>;
  /**
   * Waits until the server's clock says so. The last moment passes by itself: without a worker the clock does not
   * jump over a timer.
   */
  passUntil(milliseconds: number): Promise<void>;
  /** The server's clock. */
  now(): Promise<number>;
}

export async function startTimedEngine<Services>(
  options: EngineOptions<Services>,
): Promise<TimedEngine> {
  const environment = await timeSkippingEnvironment();
  onTestFinished(() => environment.teardown());
  const { address } = environment;
  const engine = await startEngine({
    ...options,
    address,
    searchAttributes: false,
    // This server never reassigns a task from the sticky queue of a worker that is gone; so every task replays the
    // run.
    // It also gives tasks and queries to the polls of such a worker, and each then has to run out of time.
    tuning: {
      maxCachedWorkflows: 0,
      maxConcurrentWorkflowTaskPolls: 1,
      maxConcurrentActivityTaskPolls: 1,
      ...options.tuning,
    },
  });
  const [start, stop] = [engine.startWorker.bind(engine), engine.stopWorker.bind(engine)];
  engine.startWorker = (tuning) => unlessStill('a worker starts', start(tuning));
  engine.stopWorker = () => unlessStill('a worker stops', stop());
  const pass: TimedEngine['pass'] = (duration) =>
    unlessStill(`${duration} pass`, environment.sleep(duration));
  return {
    engine,
    pass,
    passUntil: async (milliseconds) => {
      const left = milliseconds - (await environment.currentTimeMs()) - LAST_MOMENT_MS;
      if (left > 0) await pass(left);
      const passed = async (): Promise<boolean> =>
        (await environment.currentTimeMs()) >= milliseconds;
      await until('the time passes', passed);
    },
    now: () => environment.currentTimeMs(),
  };
}

/** Now and then this server leaves a request without an answer for good; the configuration repeats such a test once. */
async function unlessStill(what: string, request: Promise<void>): Promise<void> {
  const over = new AbortController();
  const still = sleep(STILL_MS * PATIENCE, undefined, { signal: over.signal }).then(
    () => {
      throw new Error(`the time-skipping server stands still: ${what}`);
    },
    () => undefined,
  );
  try {
    await Promise.race([request, still]);
  } finally {
    over.abort();
  }
}
