/**
 * The development stack: Temporal server, worker process, API process. Used by `colloquy dev`, the demo and the
 * end-to-end tests. Owns every process that it starts and stops them in reverse order.
 */
import { resolve } from 'node:path';
import { type DevelopmentSecret, developmentSecret } from '../../http/identity/development.js';
import type { WorkerKilled } from '../../protocol/log/operations.js';
import { makeDataFolder } from '../data/data-folder.js';
import { type Child, type ChildOptions, startChild } from '../process/child.js';
import { IN_STACK, isKillRequest } from '../process/kill-request.js';
import type { StopOptions, TemporalServer } from '../temporal/temporal-server.js';
import { ensureTemporal } from '../temporal/temporal-server.js';

export interface StackOptions {
  readonly agentsModule: string;
  /** Routes of the application, for the API. */
  readonly routesModule?: string | undefined;
  readonly dataDir: string;
  /** 0 takes any free port. */
  readonly apiPort: number;
  readonly temporalPort?: number | undefined;
  readonly temporalUiPort?: number | undefined;
  /** Address of an existing server; then none is searched or started. */
  readonly temporalAddress?: string | undefined;
  readonly taskQueue?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string, from: string) => void;
  /** Called when a person has had the worker killed on the page, and when another one is ready, or is not. */
  readonly onKilled?: (news: KillNews) => void;
}

export type KillNews =
  | { readonly type: 'killed' | 'replaced'; readonly pid: number }
  | { readonly type: 'not_replaced'; readonly reason: string };

export interface Stack {
  readonly temporal: Pick<TemporalServer, 'address' | 'uiUrl' | 'started' | 'notes'>;
  readonly apiUrl: string;
  /** The secret of the development identity, with which the API must be asked. */
  readonly secret: DevelopmentSecret;
  /** Headers of requests to the API. */
  readonly apiHeaders: Readonly<Record<'authorization', string>>;
  readonly api: Child;
  /** The newest worker. */
  worker(): Child;
  /** True from the kill of a worker on the page until another one is ready. */
  isReplacing(): boolean;
  /** Starts another worker, for instance after one was killed. */
  startWorker(): Promise<Child>;
  /** Kills workers, API and the server that was started here. Safe beside `stop`, which then resolves. */
  kill(): Promise<void>;
  /** Stops workers and API in order, then the server. */
  stop(how?: StopOptions): Promise<void>;
}

/** @throws when a part cannot be started, after everything that had been started is stopped again. */
export async function startStack(options: StackOptions): Promise<Stack> {
  await makeDataFolder({ dataDir: options.dataDir });
  const given = options.env?.['COLLOQUY_DEV_SECRET'] ?? process.env['COLLOQUY_DEV_SECRET'];
  const secret = await developmentSecret(options.dataDir, given);
  const temporal = await temporalFor(options);
  const children: Child[] = [];
  const workers = new StackWorkers(options.onKilled, () =>
    start('worker', ['worker', '--agents', options.agentsModule]),
  );
  const { kill, stop } = endsOf({ workers, children, temporal });
  const env: NodeJS.ProcessEnv = {
    ...options.env,
    TEMPORAL_ADDRESS: temporal.address,
    COLLOQUY_IDENTITY: 'development',
    COLLOQUY_DATA: options.dataDir,
    // The worker keeps HTTP tools from it.
    COLLOQUY_PORT: String(options.apiPort),
    ...uiOrigins(temporal.uiUrl),
    ...uiAddress(temporal.uiUrl),
    ...pageAddress(options.apiPort),
    ...(options.taskQueue === undefined ? {} : { COLLOQUY_TASK_QUEUE: options.taskQueue }),
  };
  const start = async (
    name: string,
    args: readonly string[],
    more: Partial<ChildOptions> = {},
  ): Promise<Child> => {
    const onLine = (line: string): void => options.onLine?.(line, name);
    const child = await startChild({ name, args, env, onLine, ...more });
    children.push(child);
    return child;
  };
  try {
    await workers.start();
    const api = await start('api', ['serve', ...routesOf(options)], {
      env: { ...env, ...IN_STACK },
      onRequest: async (message) => {
        if (!isKillRequest(message)) throw new Error('the stack does not know this request');
        return await workers.kill();
      },
    });
    return {
      temporal,
      apiUrl: apiUrlOf(api),
      secret,
      apiHeaders: { authorization: `Bearer ${secret.secret}` },
      api,
      worker: () => workers.newest,
      isReplacing: () => workers.isReplacing,
      startWorker: () => workers.start(),
      ...{ kill, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function endsOf(parts: {
  readonly workers: StackWorkers;
  readonly children: readonly Child[];
  readonly temporal: TemporalServer;
}): Pick<Stack, 'kill' | 'stop'> {
  const { workers, children, temporal } = parts;
  return {
    kill: async () => {
      await Promise.all(children.map((child) => child.kill()));
      await temporal.stop({ discards: true });
    },
    stop: async (how) => {
      await workers.settled();
      await Promise.all(children.map((child) => child.stop()));
      await temporal.stop(how);
    },
  };
}

function routesOf({ routesModule }: StackOptions): readonly string[] {
  return routesModule === undefined ? [] : ['--routes', routesModule];
}

/** The workers of a stack, one after the other. */
class StackWorkers {
  readonly #onKilled: StackOptions['onKilled'];
  readonly #start: () => Promise<Child>;
  #newest: Child | undefined;
  #replacing: Promise<void> | undefined;
  #killed: WorkerKilled = { killedPid: 0 };

  constructor(onKilled: StackOptions['onKilled'], start: () => Promise<Child>) {
    this.#onKilled = onKilled;
    this.#start = start;
  }

  /** @throws before the first one has started */
  get newest(): Child {
    if (this.#newest === undefined) throw new Error('no worker has been started');
    return this.#newest;
  }

  get isReplacing(): boolean {
    return this.#replacing !== undefined;
  }

  async start(): Promise<Child> {
    this.#newest = await this.#start();
    return this.#newest;
  }

  /** SIGKILL to the newest one; another is started behind it. Repeats until that one is ready are the same kill. */
  async kill(): Promise<WorkerKilled> {
    if (this.#replacing === undefined) {
      const { newest } = this;
      const killed = newest.kill();
      this.#killed = { killedPid: newest.pid };
      this.#replacing = killed
        .then(() => this.#replace(newest.pid))
        .finally(() => {
          this.#replacing = undefined;
        });
      await killed;
    }
    return this.#killed;
  }

  /** Resolves when no worker is being started in place of another. */
  async settled(): Promise<void> {
    await this.#replacing;
  }

  async #replace(killedPid: number): Promise<void> {
    this.#onKilled?.({ type: 'killed', pid: killedPid });
    try {
      const { pid } = await this.start();
      this.#onKilled?.({ type: 'replaced', pid });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#onKilled?.({ type: 'not_replaced', reason });
    }
  }
}

async function temporalFor(options: StackOptions): Promise<TemporalServer> {
  const { temporalAddress, temporalPort, temporalUiPort, dataDir, apiPort } = options;
  if (temporalAddress !== undefined)
    return {
      address: temporalAddress,
      uiUrl: undefined,
      started: false,
      notes: [],
      stop: () => Promise.resolve(),
    };
  return ensureTemporal({
    dbFile: resolve(dataDir, 'temporal.db'),
    port: temporalPort,
    uiPort: temporalUiPort,
    // A free port is not known before the API has it.
    codecEndpoint: apiPort === 0 ? undefined : `http://127.0.0.1:${apiPort}/codec`,
  });
}

/** The UI may be opened under either name; a value that the caller has set wins. */
function uiOrigins(uiUrl: string | undefined): NodeJS.ProcessEnv {
  if (uiUrl === undefined || process.env['COLLOQUY_UI_ORIGINS'] !== undefined) return {};
  const { port } = new URL(uiUrl);
  return { COLLOQUY_UI_ORIGINS: `http://localhost:${port},http://127.0.0.1:${port}` };
}

/** The page links to the UI; a value that the caller has set wins. */
function uiAddress(uiUrl: string | undefined): NodeJS.ProcessEnv {
  if (uiUrl === undefined || process.env['COLLOQUY_TEMPORAL_UI'] !== undefined) return {};
  return { COLLOQUY_TEMPORAL_UI: uiUrl };
}

/** The Temporal UI links to the page; a value that the caller has set wins. A free port is not known yet. */
function pageAddress(apiPort: number): NodeJS.ProcessEnv {
  if (apiPort === 0 || process.env['COLLOQUY_PAGE_URL'] !== undefined) return {};
  return { COLLOQUY_PAGE_URL: `http://127.0.0.1:${apiPort}/ui` };
}

/** The API prints its address in its first line; with port 0 only the API knows it. */
function apiUrlOf(api: Child): string {
  const url = /https?:\/\/\S+/.exec(api.output())?.[0];
  if (url === undefined) throw new Error(`the API process printed no address:\n${api.output()}`);
  return url.replace(/\/$/, '');
}
