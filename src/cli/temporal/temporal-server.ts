/** The development server of the stack: reused when one answers, else started through `temporal-dev.sh`. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DEFAULT_TEMPORAL_ADDRESS } from '../../client/temporal/connection.js';

const run = promisify(execFile);
/** The first start downloads the server: tens of megabytes. */
export const SCRIPT_TIMEOUT_MS = 300_000;
export const SCRIPT = fileURLToPath(new URL('../../../temporal-dev.sh', import.meta.url));

export interface TemporalServer {
  readonly address: string;
  readonly uiUrl: string | undefined;
  /** True when it was started here, false when it was already running. */
  readonly started: boolean;
  /** Messages of the script: which server, from where. */
  readonly notes: readonly string[];
  /** Stops it if it was started here. */
  stop(how?: StopOptions): Promise<void>;
}

export interface StopOptions {
  /** The caller deletes the data, so the server is killed: its own orderly end takes seconds. @defaultValue false */
  readonly discards?: boolean;
}

export interface TemporalServerOptions {
  readonly dbFile: string;
  /** @defaultValue the port of TEMPORAL_ADDRESS, else 7233 */
  readonly port?: number | undefined;
  readonly uiPort?: number | undefined;
  /** Where the UI has payloads decoded; for a server that is started here. */
  readonly codecEndpoint?: string | undefined;
}

/**
 * Returns a server that already serves the file, else one that answers at the address (with its data elsewhere), else
 * starts a new one there on the file.
 * @throws with the script's own message when there is no server.
 */
export async function ensureTemporal(options: TemporalServerOptions): Promise<TemporalServer> {
  if (!existsSync(SCRIPT))
    throw new Error(`temporal-dev.sh is missing beside the package (${SCRIPT})`);
  const db = ['--db', options.dbFile];
  const served = await statusOf(db);
  if (served !== undefined) return serverOf(served, { started: false, db });
  // When TEMPORAL_ADDRESS is set, the script takes the server that answers there, with any data.
  const address =
    options.port === undefined
      ? (process.env['TEMPORAL_ADDRESS'] ?? DEFAULT_TEMPORAL_ADDRESS)
      : `127.0.0.1:${options.port}`;
  const ui = options.uiPort === undefined ? [] : ['--ui-port', String(options.uiPort)];
  const { codecEndpoint } = options;
  const codec = codecEndpoint === undefined ? [] : ['--codec-endpoint', codecEndpoint];
  const output = await script([...ui, ...codec, ...db], { TEMPORAL_ADDRESS: address });
  const started = (await statusOf(db)) !== undefined;
  return serverOf(output, { started, db });
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

function serverOf(
  { stdout, stderr }: Output,
  { started, db }: { readonly started: boolean; readonly db: readonly string[] },
): TemporalServer {
  const address = valueOf(stdout, 'TEMPORAL_ADDRESS');
  if (address === undefined)
    throw new Error(`temporal-dev.sh printed no address:\n${stdout}${stderr}`);
  return {
    address,
    uiUrl: valueOf(stdout, 'TEMPORAL_UI'),
    started,
    notes: stderr.split('\n').filter((line) => line.trim() !== ''),
    stop: async ({ discards = false } = {}) => {
      if (started) await stopServer([...(discards ? ['--kill'] : []), ...db]);
    },
  };
}

/** The status of a server that the script started on this file; undefined when none runs. */
async function statusOf(db: readonly string[]): Promise<Output | undefined> {
  try {
    return await run('bash', [SCRIPT, '--status', ...db], { timeout: SCRIPT_TIMEOUT_MS });
  } catch {
    return undefined;
  }
}

async function script(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Output> {
  try {
    return await run('bash', [SCRIPT, ...args], {
      timeout: SCRIPT_TIMEOUT_MS,
      env: { ...process.env, ...env },
    });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`temporal-dev.sh failed:\n${stderr ?? String(error)}`, { cause: error });
  }
}

/** In a process group of its own: a second Ctrl-C, which a terminal sends to its whole group, would end the stop. */
async function stopServer(args: readonly string[]): Promise<void> {
  const child = spawn('bash', [SCRIPT, '--stop', ...args], {
    ...{ detached: true, timeout: SCRIPT_TIMEOUT_MS },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`temporal-dev.sh failed:\n${said}`);
}

function valueOf(output: string, name: string): string | undefined {
  const line = output.split('\n').find((entry) => entry.startsWith(`${name}=`));
  const value = line?.slice(name.length + 1).trim();
  return value === '' ? undefined : value;
}
