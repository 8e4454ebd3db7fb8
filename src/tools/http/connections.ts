/**
 * The connections of HTTP tools: one pool for each proxy of a tool, because a secret may name another one for each
 * tenant, and changes. Runs in the worker.
 */
import { LRUCache } from 'lru-cache';
import type { Dispatcher } from 'undici';
import type { HttpPlan } from '../../define/tool/http-plan.js';
import type { AnyTool } from '../../define/tool/types.js';
import { type AddressPolicy, addressPolicyOf } from '../../net/guarded/addresses.js';
import { createDispatcher } from '../../net/guarded/connections.js';
import { placeOf } from '../../net/guarded/own-api.js';
import { HttpProblem } from './problem.js';
import type { Secrets } from './secrets.js';

export interface Connections {
  readonly dispatcher: Dispatcher;
  readonly policy: AddressPolicy;
  readonly proxy: string | undefined;
}

/** Pools of one tool that are kept without a run that uses them. */
const MAX_POOLS = 32;

const NONE: readonly string[] = [];

/** Kept as long as the tool, by proxy and addresses of the API. */
const known = new WeakMap<HttpPlan, LRUCache<string, Pool>>();

/**
 * Does work with the connections of a tool, which stay open until it has ended. @throws {HttpProblem} for a proxy that
 * is not there, or no URL; errors of the work
 */
export async function withConnections<Result>(
  tool: Pick<AnyTool, 'effects'> & { readonly http: HttpPlan },
  {
    secrets,
    apiUrls = NONE,
  }: { readonly secrets: Secrets; readonly apiUrls?: readonly string[] | undefined },
  work: (connections: Connections) => Promise<Result>,
): Promise<Result> {
  const { http, effects } = tool;
  const proxy =
    typeof http.proxy === 'object' ? await secrets.resolve(http.proxy, 'the proxy') : http.proxy;
  const pools = known.get(http) ?? new LRUCache<string, Pool>({ max: MAX_POOLS, dispose: drop });
  known.set(http, pools);
  const name = JSON.stringify([proxy ?? null, ...apiUrls]);
  let pool = pools.get(name);
  if (pool === undefined) {
    const ownApis = apiUrls.map((url) => placeOf(new URL(url)));
    const policy = { ...addressPolicyOf(http.allowPrivate), ownApis };
    pool = new Pool({ dispatcher: dispatcherOf(proxy, policy, effects !== 'once'), policy, proxy });
    pools.set(name, pool);
  }
  return await pool.use(work);
}

function drop(pool: Pool): void {
  pool.drop();
}

class Pool {
  readonly #connections: Connections;
  #uses = 0;
  #isDropped = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async use<Result>(work: (connections: Connections) => Promise<Result>): Promise<Result> {
    this.#uses += 1;
    try {
      return await work(this.#connections);
    } finally {
      this.#uses -= 1;
      this.#closeIfUnused();
    }
  }

  drop(): void {
    this.#isDropped = true;
    this.#closeIfUnused();
  }

  /** A dispatcher that closes refuses requests: those of a run that follows a redirect, or has not sent its first. */
  #closeIfUnused(): void {
    if (this.#isDropped && this.#uses === 0)
      this.#connections.dispatcher.close().catch(() => undefined);
  }
}

function dispatcherOf(
  proxy: string | undefined,
  policy: AddressPolicy,
  reuse: boolean,
): Dispatcher {
  try {
    return createDispatcher({ policy, proxy, reuse });
  } catch {
    // The error of a URL that cannot be parsed quotes it, including the password.
    throw new HttpProblem('The request was not sent: the address of the proxy is not a URL');
  }
}
