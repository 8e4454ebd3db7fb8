/** An engine on the server whose clock jumps. It knows no search attributes, and its time stands still between `pass`es. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { onTestFinished } from 'vitest';
import { timeSkippingEnvironment } from '../histories/time-skipping.js';
import { until } from '../until.js';
import { type Engine, type EngineOptions, startEngine } from './engine.js';

const LAST_MOMENT_MS = 2_000;

export interface TimedEngine {
  readonly engine: Engine;
  /** Lets this much time pass, with every timer on the way. */
  pass(duration: Parameters<TestWorkflowEnvironment['sleep']>[0]): Promise<void>;
  /**
   * Until the server's clock says so. The last moment passes by itself: with no worker the clock does not jump over a timer.
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
    // This server never takes a task back from the own queue of a worker that is gone; so every task replays the run.
    tuning: { maxCachedWorkflows: 0, ...options.tuning },
  });
  return {
    engine,
    pass: (duration) => environment.sleep(duration),
    passUntil: async (milliseconds) => {
      const left = milliseconds - (await environment.currentTimeMs()) - LAST_MOMENT_MS;
      if (left > 0) await environment.sleep(left);
      const passed = async (): Promise<boolean> =>
        (await environment.currentTimeMs()) >= milliseconds;
      await until('the time passes', passed);
    },
    now: () => environment.currentTimeMs(),
  };
}
