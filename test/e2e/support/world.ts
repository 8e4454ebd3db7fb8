/** A whole installation for one test file: Temporal, worker and API as separate processes, and a scripted model. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { type Child, type Stack, startChild, startStack } from 'colloquy/dev';
import { PATIENT_API } from '../../support/patience.js';
import { type DevServer, freePort, startDevServer } from '../../support/servers/dev-server.js';
import { DEV_SECRET } from './api.js';
import { type GrpcGate, startGrpcGate } from './grpc-gate.js';
import { type Scenario, type ScenarioModel, startScenarioModel } from './scenario-model.js';
import { Talk } from './talk.js';

export const AGENTS = fileURLToPath(new URL('../fixtures/agents.ts', import.meta.url));
const TASK_QUEUE = 'colloquy';

export interface WorldOptions {
  /** The module that the worker serves. @defaultValue the agents of the end-to-end tests */
  readonly agents?: string;
  /** Answers messages without an answer of their own. @defaultValue the demo's script */
  readonly script?: Scenario;
  /** Environment of every process. */
  readonly env?: Readonly<Record<string, string>>;
  /** @defaultValue 0, any free port */
  readonly apiPort?: number;
  /** Workers and API reach Temporal through a gate that can hold their calls. */
  readonly gated?: boolean;
  /** Temporal has its UI, and with it the HTTP API of the UI. */
  readonly ui?: boolean;
  /** Receives the output lines of the stack's worker and API. */
  readonly onLine?: (line: string, from: string) => void;
  /** Dynamic configuration of the Temporal server. */
  readonly dynamicConfig?: Readonly<Record<string, unknown>>;
}

export interface World {
  readonly folder: string;
  readonly server: DevServer;
  readonly stack: Stack;
  readonly model: ScenarioModel;
  readonly temporal: Client;
  /** The gate. @throws when the world has none */
  readonly gate: GrpcGate;
  readonly taskQueue: string;
  /** Address of Temporal's UI. @throws when the world has none */
  readonly uiUrl: string;
  /** Settings of every process. */
  readonly env: Readonly<Record<string, string>>;
  /** Address of the stack's API; `startApi` does not change it. */
  readonly apiUrl: string;
  talk(id: string): Talk;
  /** Starts another API process on the same data. 0 = any free port. */
  startApi(port: number): Promise<Child & { readonly url: string }>;
  /** Lets slow tools with this label end. */
  release(label: string): Promise<void>;
  /** The lines that tools wrote to a file in the folder. */
  lines(
    file: 'refunds.jsonl' | 'runs.jsonl',
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  stop(): Promise<void>;
}

/** Starts everything; stops the started parts when one fails. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'colloquy-e2e-'));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const model = await startScenarioModel(options.script);
    closers.push(() => model.close());
    const { agents = AGENTS, dynamicConfig = {} } = options;
    const uiPort = options.ui === true ? await freePort() : undefined;
    const server = await startDevServer({
      dbFile: join(folder, 'temporal.db'),
      dynamicConfig,
      ...(uiPort === undefined ? {} : { uiPort }),
    });
    closers.push(() => server.stop());
    const gate = options.gated === true ? await startGrpcGate(server.address) : undefined;
    if (gate !== undefined) closers.push(() => gate.close());
    const env = {
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: 'scripted',
      E2E_FOLDER: folder,
      DEMO_LEDGER: join(folder, 'refunds.jsonl'),
      COLLOQUY_LOG_LEVEL: 'warn',
      COLLOQUY_DEV_SECRET: DEV_SECRET,
      // A test is one caller, and polls for many.
      COLLOQUY_REQUEST_LIMIT: 'off',
      ...PATIENT_API,
      ...options.env,
    };
    const stack = await startStack({
      agentsModule: agents,
      dataDir: folder,
      apiPort: options.apiPort ?? 0,
      temporalAddress: gate?.address ?? server.address,
      taskQueue: TASK_QUEUE,
      env,
      ...(options.onLine === undefined ? {} : { onLine: options.onLine }),
    });
    closers.push(() => stack.stop());
    const connection = await Connection.connect({ address: server.address });
    closers.push(() => connection.close());
    const temporal = new Client({ connection });
    return assemble({ folder, server, stack, model, temporal, gate, uiPort, env, closers, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

type Parts = Pick<World, 'folder' | 'server' | 'stack' | 'model' | 'temporal' | 'stop'> & {
  readonly env: Readonly<Record<string, string>>;
  readonly gate: GrpcGate | undefined;
  readonly uiPort: number | undefined;
  readonly closers: (() => Promise<unknown>)[];
};

function assemble({ env: own, gate, uiPort, closers, ...parts }: Parts): World {
  const { folder, server, stack } = parts;
  const env = {
    ...own,
    TEMPORAL_ADDRESS: server.address,
    COLLOQUY_DATA: folder,
    COLLOQUY_TASK_QUEUE: TASK_QUEUE,
  };
  return {
    ...parts,
    env,
    get uiUrl() {
      if (uiPort === undefined) throw new Error('this world has no UI');
      return `http://127.0.0.1:${uiPort}`;
    },
    get gate() {
      if (gate === undefined) throw new Error('this world has no gate');
      return gate;
    },
    taskQueue: TASK_QUEUE,
    apiUrl: stack.apiUrl,
    talk: (id) => new Talk(id, () => stack.apiUrl),
    startApi: async (port) => {
      const child = await startChild({
        name: 'api',
        args: ['serve', '--port', String(port)],
        env,
      });
      closers.push(() => child.stop());
      return { ...child, url: /http:\/\/\S+/.exec(child.output())?.[0] ?? '' };
    },
    release: (label) => writeFile(join(folder, label), ''),
    lines: async (file) => {
      const text = await readFile(join(folder, file), 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    },
  };
}
