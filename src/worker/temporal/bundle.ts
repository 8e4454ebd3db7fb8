/** Locates the workflow code of a worker: the bundle that the build made, or the modules themselves. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkerOptions } from '@temporalio/worker';

const PREBUILT = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));
const MODULES = fileURLToPath(new URL('../../workflows/index.js', import.meta.url));
const INTERCEPTORS = fileURLToPath(
  new URL('../../workflows/sandbox/interceptors.js', import.meta.url),
);

/** Path of the module whose export decodes payloads; the same inside and outside of the sandbox. */
export const PAYLOAD_CONVERTER_PATH = fileURLToPath(
  new URL('../../workflows/sandbox/payload-converter.js', import.meta.url),
);

/** Bundling at start costs a second or two; the prebuilt bundle costs nothing and is the same for all workers. */
export function workflowCode(): Pick<
  WorkerOptions,
  'workflowBundle' | 'workflowsPath' | 'interceptors'
> {
  if (existsSync(PREBUILT)) return { workflowBundle: { codePath: PREBUILT } };
  return { workflowsPath: MODULES, interceptors: { workflowModules: [INTERCEPTORS] } };
}
