/** Global setup: bundles the workflows from source once and provides the file, so that no test runs a stale build. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleFromSource } from './workflow-bundle.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** For `workflowBundle: { codePath }` of a worker. */
    workflowBundlePath: string;
  }
}

export async function setup(project: TestProject): Promise<() => void> {
  const code = await bundleFromSource();
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-bundle-'));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  const path = join(folder, 'workflow-bundle.js');
  writeFileSync(path, code);
  project.provide('workflowBundlePath', path);
  return remove;
}
