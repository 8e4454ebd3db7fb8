/** `colloquy temporal`: the Temporal CLI and its dev server for a project that has only this package. */
import { execFile, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SCRIPT, SCRIPT_TIMEOUT_MS } from './temporal-server.js';

/** Actions of `temporal-dev.sh`, and its option for each. None of them is a command of the Temporal CLI. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  start: [],
  stop: ['--stop'],
  status: ['--status'],
  reset: ['--reset'],
};
const OWN_NAME = 'npx colloquy temporal';

export const TEMPORAL_HELP = `
The dev server, on loopback, with its data in COLLOQUY_DATA (default: .colloquy); "start --help" lists the options:
  npx colloquy temporal start     start it, or reuse the server that answers at TEMPORAL_ADDRESS
  npx colloquy temporal status    print its address and UI; exit code 3 if none answers
  npx colloquy temporal stop      stop the server that was started here
  npx colloquy temporal reset     stop it, delete its data, start with none

Anything else goes to the Temporal CLI as it is: TEMPORAL_CLI, "temporal" on PATH, or one that is fetched once:
  npx colloquy temporal workflow list --query 'ColloquyStatus = "awaiting_input"'
  npx colloquy temporal --help`;

/**
 * Runs an action of the dev server, or the Temporal CLI with these arguments; both write to this terminal. Resolves
 * with the exit code. @throws with the script's message when there is no CLI and none can be downloaded.
 */
export async function runTemporal(args: readonly string[]): Promise<number> {
  const [first = '', ...rest] = args;
  const action = Object.hasOwn(ACTIONS, first) ? ACTIONS[first] : undefined;
  if (action !== undefined)
    return await runHere('bash', [SCRIPT, ...action, ...databaseOf(rest), ...rest]);
  return await runHere(await temporalCli(), args);
}

/** `colloquy dev` keeps the server's data in the same file. */
function databaseOf(args: readonly string[]): readonly string[] {
  const folder = process.env['COLLOQUY_DATA'];
  if (folder === undefined || folder === '') return [];
  return args.includes('--db') || args.includes('--ephemeral')
    ? []
    : ['--db', join(folder, 'temporal.db')];
}

async function temporalCli(): Promise<string> {
  // A first run downloads tens of megabytes; only then the script reports it on stderr.
  const child = promisify(execFile)('bash', [SCRIPT, '--print-binary', '--quiet'], {
    timeout: SCRIPT_TIMEOUT_MS,
  });
  let said = '';
  child.child.stderr?.on('data', (chunk: string) => {
    said += chunk;
    process.stderr.write(chunk);
  });
  try {
    return (await child).stdout.trim();
  } catch (error) {
    const isSaid = said !== '';
    throw new Error(isSaid ? 'no Temporal CLI is available; see above' : String(error), {
      cause: error,
    });
  }
}

async function runHere(command: string, args: readonly string[]): Promise<number> {
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, COLLOQUY_TEMPORAL_COMMAND: OWN_NAME },
  });
  // Ctrl-C in a terminal reaches the child itself; a signal to this process alone does not.
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  const ignore = (): void => undefined;
  process.on('SIGTERM', forward);
  process.on('SIGINT', ignore);
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve(code ?? (signal === null ? 1 : 128 + constants.signals[signal]));
    });
  });
}
