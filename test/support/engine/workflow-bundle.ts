/** The workflow bundle from source, as `npm run build` makes it. */
import { fileURLToPath } from 'node:url';
import { type BundleOptions, bundleWorkflowCode } from '@temporalio/worker';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));
export const CONVERTER = `${SRC}workflows/sandbox/payload-converter.ts`;

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

/** @param modules Interceptors of tests, as of a deploy that changes what workflows do. */
export async function bundleFromSource(...modules: readonly string[]): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: `${SRC}workflows/index.ts`,
    workflowInterceptorModules: [`${SRC}workflows/sandbox/interceptors.ts`, ...modules],
    payloadConverterPath: CONVERTER,
    preloadModules: [
      'workflows/sandbox/disable-promise-stacks',
      'core/machine/machine',
      'core/machine/opening',
    ].map((module) => `${SRC}${module}.ts`),
    logger: QUIET,
  });
  return code;
}
