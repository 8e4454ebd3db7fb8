/** Where the workflow code of a worker comes from: the bundle that the build made, or the modules themselves. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

const PREBUILT = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
const MODULES = fileURLToPath(new URL('../workflows/index.js', import.meta.url));
const [QUERY_GUARD, INTERCEPTORS] = ['query-guard', 'interceptors'].map((module) =>
  fileURLToPath(new URL(`../workflows/${module}.js`, import.meta.url)),
) as [string, string];

/** Path of the module whose export decodes payloads; the same inside and outside of the sandbox. */
export const PAYLOAD_CONVERTER_PATH = fileURLToPath(
  new URL('../workflows/payload-converter.js', import.meta.url),
);

/**
 * Bundling at start costs a second or two; the prebuilt bundle costs nothing and is the same for all workers, but for those that
 * leave the guard of queries out.
 */
export function workflowCode(
  options: { /** @defaultValue true */ readonly queryGuard?: boolean | undefined } = {},
): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath' | 'interceptors'> {
  const { queryGuard = true } = options;
  if (queryGuard && existsSync(PREBUILT)) return { workflowBundle: { codePath: PREBUILT } };
  const workflowModules = queryGuard ? [QUERY_GUARD, INTERCEPTORS] : [INTERCEPTORS];
  return { workflowsPath: MODULES, interceptors: { workflowModules } };
}
