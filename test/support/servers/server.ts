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

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startDevServer();
  project.provide('temporalAddress', server.address);
  return () => server.stop();
}
