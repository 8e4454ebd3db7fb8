/** The workflow bundle from source, as `npm run build` makes it. */
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode } from '@temporalio/worker';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
export const CONVERTER = `${SRC}workflows/payload-converter.ts`;

const ignore = (): void => undefined;
const QUIET = {
  log: ignore,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: (message: string): void => {
    process.stderr.write(`${message}\n`);
  },
} satisfies BundleOptions['logger'];

/** @param queryGuard False for the time-skipping server, which ends every history that it sends with a query as the guard must not let pass. */
export async function bundleFromSource({ queryGuard = true } = {}): Promise<string> {
  const modules = queryGuard ? ['query-guard', 'interceptors'] : ['interceptors'];
  const { code } = await bundleWorkflowCode({
    workflowsPath: `${SRC}workflows/index.ts`,
    workflowInterceptorModules: modules.map((module) => `${SRC}workflows/${module}.ts`),
    payloadConverterPath: CONVERTER,
    preloadModules: ['workflows/untraced-promises', 'core/machine', 'core/opening'].map(
      (module) => `${SRC}${module}.ts`,
    ),
    logger: QUIET,
  });
  return code;
}
