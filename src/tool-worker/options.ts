/** Checks the options of a tool worker; every fault has the name of its option. */
import { MAX_LEASE_MS, MIN_LEASE_MS } from '../protocol/limits/limits.js';
import { toolNameProblem } from '../protocol/values/tool-names.js';
import type { ToolContract, ToolContracts, ToolHandler, ToolWorkerOptions } from './types.js';

export type UntypedOptions = ToolWorkerOptions<ToolContracts>;

export interface Settings
  extends Pick<UntypedOptions, 'actor' | 'agent' | 'headers' | 'tenant' | 'token'> {
  readonly urls: readonly string[];
  readonly tools: ReadonlyMap<string, ToolHandler<ToolContract>>;
  readonly executors: NonNullable<UntypedOptions['executors']>;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly onError: NonNullable<UntypedOptions['onError']>;
  readonly fetch: typeof fetch;
}

const MAX_CONCURRENCY = 1_000;
const DEFAULT_LEASE_MS = 60_000;

/** @throws {TypeError} naming the option and its rule */
export function settingsOf(options: UntypedOptions): Settings {
  const { actor, agent, headers, tenant, token } = options;
  const { executors = ['external'], concurrency = 1, leaseMs = DEFAULT_LEASE_MS } = options;
  if (
    token !== undefined &&
    typeof token !== 'function' &&
    (typeof token !== 'string' || token === '')
  )
    throw fault('token', 'must be a text or a function that returns one');
  const isKnown = (executor: unknown): boolean => executor === 'client' || executor === 'external';
  if (!Array.isArray(executors) || executors.length === 0 || !executors.every(isKnown))
    throw fault('executors', 'must be a list of "external" and "client"');
  if (options.onError !== undefined && typeof options.onError !== 'function')
    throw fault('onError', 'must be a function');
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(agent === undefined ? {} : { agent }),
    ...(headers === undefined ? {} : { headers }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(token === undefined ? {} : { token }),
    urls: urlsOf(options.url),
    tools: toolsOf(options.tools),
    executors,
    concurrency: whole('concurrency', concurrency, [1, MAX_CONCURRENCY]),
    leaseMs: whole('leaseMs', leaseMs, [MIN_LEASE_MS, MAX_LEASE_MS]),
    onError: options.onError ?? writeError,
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
  };
}

function urlsOf(given: unknown): readonly string[] {
  const urls: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (urls.length === 0) throw fault('url', 'must be the address of the API');
  return urls.map((url) => {
    const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
      throw fault('url', `must be an address with http or https, got ${JSON.stringify(url)}`);
    if (
      parsed.username !== '' ||
      parsed.password !== '' ||
      parsed.search !== '' ||
      parsed.hash !== ''
    )
      throw fault('url', 'must have no credentials, query or fragment: use token or headers');
    return parsed.href.replace(/\/+$/, '');
  });
}

function toolsOf(given: unknown): Settings['tools'] {
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : [];
  if (entries.length === 0) throw fault('tools', 'must have at least one tool');
  for (const [name, handler] of entries) {
    const problem = toolNameProblem(name);
    if (problem !== undefined) throw fault('tools', problem);
    if (typeof handler !== 'function') throw fault(`tools["${name}"]`, 'must be a function');
  }
  return new Map(entries);
}

function whole(name: string, value: unknown, [from, to]: readonly [number, number]): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= from && value <= to)
    return value;
  throw fault(name, `must be a whole number from ${from} to ${to}, got ${String(value)}`);
}

function fault(option: string, rule: string): TypeError {
  return new TypeError(`createToolWorker: ${option} ${rule}`);
}

const writeError: Settings['onError'] = (failure) => {
  // A failure that no code hears of would be lost.
  // eslint-disable-next-line no-console
  console.error(failure);
};
