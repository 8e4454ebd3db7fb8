/** Global setup: bundles the workflows from source once and provides the file, so that no test runs a stale build. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** For `workflowBundle: { codePath }` of a worker. */
    workflowBundlePath: string;
  }
}

const WORKFLOWS = fileURLToPath(new URL('../../src/workflows/', import.meta.url));

export async function setup(project: TestProject): Promise<() => void> {
  const converter = join(WORKFLOWS, 'payload-converter.ts');
  // The time-skipping server ends every history that it sends with a query as the guard must not let pass.
  const modules = project.name === 'time' ? ['interceptors'] : ['query-guard', 'interceptors'];
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(WORKFLOWS, 'index.ts'),
    workflowInterceptorModules: modules.map((module) => join(WORKFLOWS, `${module}.ts`)),
    ...(existsSync(converter) ? { payloadConverterPath: converter } : {}),
    logger: quiet,
  });
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

const ignore = (): void => undefined;
const quiet = {
  log: ignore,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: (message: string): void => {
    process.stderr.write(`${message}\n`);
  },
};
