/** The workflow code of a worker: the bundle that the build made, or one that is built now. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import {
  type BundleOptions,
  bundleWorkflowCode,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { Logger } from '../../define/tool/context.js';
import { isRecord } from '../../protocol/values/json.js';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Path of the module whose export decodes payloads; the same inside and outside of the sandbox. */
export const PAYLOAD_CONVERTER_PATH = at('workflows/sandbox/payload-converter.js');

/** Files of the build: the bundle, and the version of the SDK that it contains. */
export const PREBUILT = {
  code: at('workflow-bundle.js'),
  record: at('workflow-bundle.json'),
} as const;

const DISABLE_PROMISE_STACKS = at('workflows/sandbox/disable-promise-stacks.js');

/** Options of the bundler, for the build and for a worker that builds. */
export const BUNDLE_OPTIONS = {
  workflowsPath: at('workflows/index.js'),
  workflowInterceptorModules: [at('workflows/sandbox/interceptors.js')],
  payloadConverterPath: PAYLOAD_CONVERTER_PATH,
  // Evaluated once in a worker thread, not once in a workflow: modules without state, and what must come before any workflow.
  preloadModules: [
    DISABLE_PROMISE_STACKS,
    at('core/machine/machine.js'),
    at('core/machine/opening.js'),
  ],
} satisfies BundleOptions;

/** Packages of Temporal whose code is in a bundle. */
export const BUNDLED_PACKAGES = ['workflow', 'common'] as const;

/**
 * Version of the SDK that this process runs with: that of the worker, which loads the bundle, and in parentheses those
 * of packages in the bundle that differ from it.
 */
export function installedSdk(
  versionOf: (name: 'worker' | (typeof BUNDLED_PACKAGES)[number]) => string = installedVersion,
): string {
  const version = versionOf('worker');
  const others = BUNDLED_PACKAGES.map((name) => [name, versionOf(name)] as const)
    .filter(([, other]) => other !== version)
    .map((differing) => differing.join(' '));
  return others.length === 0 ? version : `${version} (${others.join(', ')})`;
}

function installedVersion(name: string): string {
  const require = createRequire(import.meta.url);
  const { version } = require(`@temporalio/${name}/package.json`) as { readonly version: string };
  return version;
}

export interface WorkflowCodeOptions {
  readonly logger?: Pick<Logger, 'warn' | 'error'> | undefined;
  /** @defaultValue the installed one */
  readonly sdk?: string;
  /** A bundle in which promises have stack traces, as without the engine. @defaultValue false */
  readonly sdkGuards?: boolean;
}

/** Bundles that this process has built, by version and options. */
const built = new Map<string, Promise<WorkflowBundleOption>>();

/**
 * The bundle of the build, if it contains the version of the SDK that is installed: it costs nothing, and is the same
 * for all workers. Otherwise builds one, once in a process, which takes some seconds, and logs a warning where the
 * version differs. Rejects when the bundler fails.
 */
export async function workflowCode({
  logger,
  sdk = installedSdk(),
  sdkGuards = false,
}: WorkflowCodeOptions = {}): Promise<WorkflowBundleOption> {
  const prebuilt = prebuiltWith();
  if (prebuilt === sdk && !sdkGuards) return { codePath: PREBUILT.code };
  const name = `${sdk} ${sdkGuards}`;
  const known = built.get(name);
  if (known !== undefined) return await known;
  const why =
    prebuilt === undefined ? 'is missing' : `was built with version ${prebuilt} of Temporal's SDK`;
  if (prebuilt !== sdk)
    logger?.warn(
      `The workflow bundle of colloquy ${why}; it is rebuilt with version ${sdk}, at each start of a worker`,
    );
  const preloadModules = BUNDLE_OPTIONS.preloadModules.filter(
    (module) => !sdkGuards || module !== DISABLE_PROMISE_STACKS,
  );
  const options = { ...BUNDLE_OPTIONS, preloadModules, logger: bundlerLogger(logger) };
  const building = bundleWorkflowCode(options);
  built.set(name, building);
  building.catch(() => built.delete(name));
  return await building;
}

/** The SDK that the bundle of the build was made with, as `installedSdk` says it; undefined without one. */
function prebuiltWith(): string | undefined {
  if (!existsSync(PREBUILT.code) || !existsSync(PREBUILT.record)) return undefined;
  const record: unknown = JSON.parse(readFileSync(PREBUILT.record, 'utf8'));
  return isRecord(record) && typeof record['sdk'] === 'string' ? record['sdk'] : undefined;
}

/** Passes warnings and errors on; the bundler reports its progress besides. */
function bundlerLogger(
  logger: WorkflowCodeOptions['logger'],
): NonNullable<BundleOptions['logger']> {
  const ignore = (): void => undefined;
  const warn = (message: string): void => logger?.warn(message);
  const error = (message: string): void => logger?.error(message);
  return {
    log: (level, message) => {
      if (level === 'WARN') warn(message);
      if (level === 'ERROR') error(message);
    },
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn,
    error,
  };
}
