/**
 * Global setup: one dev server for a whole project of tests, stopped with the run, also when the run is interrupted.
 */
import type { TestProject } from 'vitest/node';
import { startDevServer } from './dev-server.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `inject('temporalAddress')` in a test. */
    temporalAddress: string;
  }
}

/** The server removes a run once its queues have noted the run's end, which they do every 30 s by default. */
const SOON_REMOVED = {
  'history.transferProcessorUpdateAckInterval': '1s',
  'history.visibilityProcessorUpdateAckInterval': '1s',
} as const;

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startDevServer({ dynamicConfig: SOON_REMOVED });
  project.provide('temporalAddress', server.address);
  return () => server.stop();
}
