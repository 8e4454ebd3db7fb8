/**
 * `colloquy dev`: the whole stack in one terminal, with what agents say, and every waiting call with the command that
 * resolves it.
 */
import { once as nextEvent } from 'node:events';
import { dirname, relative, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { devServerCommand } from '../../client/workers/dev-server.js';
import { lineText } from '../../logs/line-text.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import { shellQuote } from '../../protocol/workflow/shown-text.js';
import { commandOf } from '../conversations/text.js';
import { type Config, readConfig } from '../process/config.js';
import { DEVELOPMENT_NOTICE, secretText } from '../process/development.js';
import { stderrStyle } from '../process/logging.js';
import { onStop } from '../process/process-life.js';
import { AnswerLines } from './answer-lines.js';
import { type KillNews, type Stack, startStack } from './stack.js';
import { curl, WaitingLines } from './waiting-lines.js';
import { watchSources } from './watch.js';

export interface DevFlags {
  readonly agents: string;
  readonly data?: string;
  readonly port?: string;
  /** Module with routes of the application. */
  readonly routes?: string;
  /** The text of the `model` line. */
  readonly model?: string;
  /** A message that shows what the agent can do, for the `try` line. */
  readonly tryMessage?: string;
  /**
   * Additional environment of a worker, for the command that starts another: it is shown, so it must hold no secrets.
   */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Restarts the worker when a file in the folder of the agents module changes. @defaultValue false */
  readonly watch?: boolean;
}

const POLL_MS = 1_000;

/** Runs until Ctrl-C; stops everything that it started. @throws when a part of the stack cannot be started. */
export async function runDev(flags: DevFlags): Promise<void> {
  const config = readConfig(process.env, flags);
  const stopped = new AbortController();
  // Registered before the start, because the first start downloads a server and may take a while.
  const again = new AbortController();
  onStop(
    () => {
      stopped.abort();
    },
    () => {
      again.abort();
    },
  );
  const stack = await start(config, flags).catch((error: unknown) => {
    // Ctrl-C reaches the processes of the stack, too; their end is then not a failure.
    if (stopped.signal.aborted) return undefined;
    throw error;
  });
  if (stack === undefined) return;
  if (!stopped.signal.aborted) await introduce(stack, config, flags);
  const unwatch = flags.watch === true ? await restartOnChange(stack, config, flags) : undefined;
  await showWaiting(stack, { signal: stopped.signal, config, flags });
  print('stopping');
  const stopping = Promise.resolve(unwatch?.()).then(() => stack.stop());
  await Promise.race([stopping, aborted(again.signal)]);
  if (isAborted(again.signal)) {
    print('stopping  at once: work is cut off, and continues at the next start');
    process.exitCode = 130;
    await stack.kill();
  }
  await stopping;
  // The server keeps running if this command did not start it; the hint is printed only if its data belong to this
  // stack.
  if (!stack.temporal.started && isOfData(stack))
    print(`temporal  runs on. Stop it: ${devServerCommand('stop')} --db ${databaseOf(config)}`);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await nextEvent(signal, 'abort');
}

async function start(config: Config, flags: DevFlags): Promise<Stack> {
  const style = stderrStyle(config);
  return await startStack({
    agentsModule: flags.agents,
    routesModule: flags.routes,
    dataDir: config.dataDir,
    apiPort: config.port,
    // The list of waiting calls is polled every second: a log line for each request would bury the output of this
    // command.
    env: {
      COLLOQUY_LOG_LEVEL: process.env['COLLOQUY_LOG_LEVEL'] ?? 'warn',
      COLLOQUY_LOG: 'json',
    },
    onLine: (line) => {
      // The processes log JSON on stderr, with their names; their first lines are printed below, in order.
      if (line.startsWith('{')) process.stderr.write(`${lineText(line, style)}\n`);
    },
    onKilled: (news) => {
      print(`worker    ${killedText(news)}`);
    },
  });
}

function killedText(news: KillNews): string {
  switch (news.type) {
    case 'killed':
      return `pid ${news.pid} was killed on the page of operations; another one starts`;
    case 'replaced':
      return `pid ${news.pid}, after a kill`;
    case 'not_replaced':
      return `not started again: ${news.reason}`;
  }
}

/** The worker before runs until the next one is ready, so agents that do not load leave it at work. */
async function restartOnChange(
  stack: Stack,
  { dataDir }: Config,
  { agents }: DevFlags,
): Promise<() => Promise<void>> {
  let restarting = Promise.resolve();
  /** The restart that has not begun serves every change until then. */
  let changed: string | undefined;
  const restart = async (): Promise<void> => {
    const file = relative(process.cwd(), changed ?? agents);
    changed = undefined;
    const before = stack.worker();
    try {
      const { pid } = await stack.startWorker();
      print(`worker    pid ${pid}, after a change of ${file}`);
      await before.stop();
    } catch (error) {
      print(`worker    not restarted: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const unwatch = await watchSources(agents, {
    except: [dataDir],
    onChange: (file) => {
      if (changed === undefined) restarting = restarting.then(restart);
      changed = file;
    },
  });
  return async () => {
    await unwatch();
    await restarting;
  };
}

async function introduce(stack: Stack, config: Config, flags: DevFlags): Promise<void> {
  const { temporal, apiUrl } = stack;
  const ui = temporal.uiUrl === undefined ? '' : `  ui ${temporal.uiUrl}`;
  const found = temporal.started ? 'started' : 'found running';
  print(`temporal  ${temporal.address} (${found})  data ${config.dataDir}${ui}`);
  print(`worker    pid ${stack.worker().pid}  agents ${flags.agents}`);
  print(`api       ${apiUrl}  (${DEVELOPMENT_NOTICE})`);
  print(`secret    ${secretText(stack.secret)}`);
  if (config.ui === 'on') print(`inbox     ${apiUrl}/ui/inbox  (sign in with the secret)`);
  print(`model     ${flags.model ?? 'as the agents say'}`);
  const agent = await firstAgent(stack);
  const body = JSON.stringify({ agent, message: flags.tryMessage ?? 'Hello' });
  print(`try       ${curl(`${apiUrl}/v1/conversations`, body, stack.secret.file)}`);
  print(`chat      ${settingsFor(stack, config)}npx colloquy chat --agent ${agent}`);
  if (flags.watch === true) print(`watches   ${dirname(resolve(flags.agents))}`);
  print('Ctrl-C stops everything that was started here.');
}

/** An agent that accepts conversations: the worker has published its agents before the API starts. */
async function firstAgent({ apiUrl, apiHeaders }: Stack): Promise<string> {
  try {
    const response = await fetch(`${apiUrl}/v1/agents`, { headers: apiHeaders });
    const { agents } = (await response.json()) as { agents: readonly AgentManifest[] };
    return agents.find(({ notServedSince }) => notServedSince === undefined)?.name ?? '<agent>';
  } catch {
    return '<agent>';
  }
}

interface ShowWaitingOptions {
  readonly signal: AbortSignal;
  readonly config: Config;
  readonly flags: DevFlags;
}

async function showWaiting(
  stack: Stack,
  { signal, config, flags }: ShowWaitingOptions,
): Promise<void> {
  const { apiUrl } = stack;
  const answers = new AnswerLines(stack);
  const waiting = new WaitingLines(stack);
  const shown = new Set<string>();
  const once = (id: string, lines: () => readonly string[]): void => {
    if (shown.has(id)) return;
    shown.add(id);
    for (const line of lines()) print(line);
  };
  const where = settingsFor(stack, config);
  let isAway = false;
  while (!signal.aborted) {
    const wasAway: boolean = isAway;
    isAway = await isTemporalAway(apiUrl, signal);
    if (isAway !== wasAway && !isAborted(signal)) print(temporalLine(stack, config, isAway));
    for (const line of await answers.news(signal)) print(line);
    for (const line of await waiting.news(signal)) print(line);
    const worker = stack.worker();
    if (!worker.alive() && !stack.isReplacing() && !isAborted(signal))
      once(`worker ${worker.pid}`, () => [
        `worker    has ended. Start another: ${where}${wordsOf(flags.workerEnv)}npx colloquy worker --agents ${flags.agents}`,
      ]);
    if (!stack.api.alive() && !isAborted(signal))
      once('api', () => [
        `api       has ended. Start another: ${where}npx colloquy serve --port ${new URL(apiUrl).port}`,
      ]);
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The settings by which another command finds this stack. */
function settingsFor({ temporal }: Stack, { dataDir }: Config): string {
  // The address of a database may hold a password, which must not appear on a screen.
  const isPostgres = process.env['COLLOQUY_DATABASE_URL'] !== undefined;
  const log = isPostgres ? 'COLLOQUY_DATABASE_URL=<as here> ' : '';
  return `TEMPORAL_ADDRESS=${temporal.address} COLLOQUY_DATA=${commandOf([dataDir])} ${log}`;
}

function temporalLine(stack: Stack, config: Config, isAway: boolean): string {
  if (!isAway) return 'temporal  answers again';
  const { address } = stack.temporal;
  const where = `temporal  does not answer at ${address}`;
  if (!isOfData(stack)) return where;
  return `${where}. Start it again: TEMPORAL_ADDRESS=${address} ${devServerCommand()} --db ${databaseOf(config)}`;
}

/** Whether the server's data are in the folder of this stack: for any other server only the address is known. */
function isOfData({ temporal }: Stack): boolean {
  return temporal.uiUrl !== undefined;
}

function databaseOf({ dataDir }: Config): string {
  return shellQuote(resolve(dataDir, 'temporal.db'));
}

function wordsOf(env: DevFlags['workerEnv'] = {}): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${shellQuote(value)} `)
    .join('');
}

/** The signal may have been aborted meanwhile, which the compiler cannot know. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/**
 * Asks the API, which needs Temporal for all that is sent. An unreachable API is reported separately, so it counts as
 * false here.
 */
async function isTemporalAway(apiUrl: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${apiUrl}/readyz`, { signal });
    const { checks } = (await response.json()) as { checks?: { temporal?: string } };
    return checks?.temporal !== undefined && checks.temporal !== 'ok';
  } catch {
    return false;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
