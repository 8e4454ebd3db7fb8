#!/usr/bin/env node
/** The command `colloquy`: its sub-commands, options and help. Each sub-command is loaded when it runs. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { devServerCommand } from '../client/workers/dev-server.js';
import { addChatCommand } from './chat/register.js';
import type { CheckFlags } from './check/check-command.js';
import { addConversationCommands } from './conversations/register.js';
import type { DevFlags } from './dev/dev-command.js';
import type { InitFlags } from './init/init-command.js';
import { addKeyCommands } from './keys/register.js';
import type { DeleteFlags } from './operate/delete-command.js';
import type { ReplayFlags } from './operate/replay-command.js';
import { retry, seconds } from './process/options.js';
import { failWith } from './process/process-life.js';
import { environmentVariables } from './process/variables.js';
import type { ServeFlags } from './serve/serve-command.js';
import { addWebhookCommands } from './webhooks/register.js';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

const manifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as Manifest;

/** An older Node would fail later, without naming the cause. */
const oldestNode = manifest.engines.node.replace('>=', '');
if (isOlder(process.versions.node, oldestNode))
  failWith(
    new Error(
      `Node ${oldestNode} or newer is needed, this is ${process.versions.node} (${process.execPath}). Install one, and put it first in PATH`,
    ),
  );

function isOlder(version: string, oldest: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = oldest.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** Flags override these. Temporal's own variables are read in the same way as by its command line. */
function environmentHelp(): string {
  const help = program.createHelp();
  const temporal = {
    name: 'TEMPORAL_ADDRESS',
    meaning:
      "Where Temporal is; the rest of Temporal's own variables and profiles count, too (TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, ...).",
    default: '127.0.0.1:7233',
  };
  const variables = [temporal, ...environmentVariables()];
  const width = Math.max(...variables.map(({ name }) => name.length));
  const lines = variables.map((variable) => {
    const meaning = variable.meaning.replaceAll('`', '').replace(/\.$/, '');
    const value = variable.default === undefined ? '' : ` (default: ${variable.default})`;
    return help.formatItem(variable.name, width, `${meaning}${value}`, help);
  });
  return `
Environment:
${lines.join('\n')}

No Temporal server? ${devServerCommand()} starts one; "colloquy dev" brings its own.`;
}

const AGENTS = [
  '--agents <module>',
  'module (.js, or .ts as Node runs it) that exports agents, or arrays of them (and services)',
] as const;
const ROUTES = [
  '--routes <module>',
  'module that exports routes: a function that makes an Express router (COLLOQUY_ROUTES)',
] as const;
const program = new Command('colloquy')
  .description('A durable engine for agent conversations, on Temporal.')
  .version(manifest.version, '-V, --version', 'print the version of this package')
  .showHelpAfterError()
  .enablePositionalOptions()
  .addHelpText('after', environmentHelp);

program
  .command('init <folder>')
  .description('Write a new project: an agent, its tests, and the commands to run it')
  .option('--package <spec>', 'version, range or path of this package (default: this version)')
  .addHelpText('after', '\nExample: npx colloquy init my-app')
  .action(async (folder: string, flags: InitFlags) => {
    const { runInit } = await import('./init/init-command.js');
    await runInit(folder, flags);
  });

program
  .command('worker')
  .description('Serve agents: model calls, tools and the event log projection')
  .requiredOption(...AGENTS)
  .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
  .option(...retry(60))
  .option('--drain <seconds>', 'time that running calls get at SIGTERM', seconds, 60)
  .addHelpText(
    'after',
    '\nExample: TEMPORAL_ADDRESS=127.0.0.1:7233 npx colloquy worker --agents ./agents.js',
  )
  .action(async (flags: { agents: string; data?: string; retry: number; drain: number }) => {
    const { runWorker } = await import('./serve/worker-command.js');
    await runWorker(flags);
  });

program
  .command('serve')
  .description('Serve the HTTP API')
  .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
  .option('--port <number>', 'port (COLLOQUY_PORT); 0 = any free one')
  .option(
    '--host <address>',
    'address to bind (COLLOQUY_HOST); loopback only without COLLOQUY_IDENTITY',
  )
  .option(
    '--allowed-hosts <names>',
    'names under which it may be reached besides those of this machine (COLLOQUY_ALLOWED_HOSTS)',
  )
  .option(...ROUTES)
  .option(
    '--provider-files <module>',
    "module that knows the owners of files at the models' provider (COLLOQUY_PROVIDER_FILES)",
  )
  .option(...retry(60))
  .option(
    '--drain <seconds>',
    'time at SIGTERM in which /readyz says 503 and requests are still served',
    seconds,
    0,
  )
  .addHelpText('after', '\nExample: TEMPORAL_ADDRESS=127.0.0.1:7233 npx colloquy serve --port 8080')
  .action(async (flags: ServeFlags) => {
    const { runServe } = await import('./serve/serve-command.js');
    await runServe(flags);
  });

program
  .command('delete')
  .description(
    'Delete a conversation, or all conversations of a tenant, for good: log, large values, and runs in Temporal',
  )
  .option('--tenant <tenant>', 'whose conversations; without --conversation all of them')
  .option('--conversation <id>', 'only this one; of the tenant, or of "default"')
  .option('-y, --yes', 'do not ask at a terminal')
  .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
  .option(...retry(60))
  .addHelpText(
    'after',
    '\nIt cannot be undone. A repeat, or a worker, finishes a deletion that was interrupted.\nExample: npx colloquy delete --tenant acme',
  )
  .action(async (flags: DeleteFlags) => {
    const { runDelete } = await import('./operate/delete-command.js');
    await runDelete(flags);
  });

program
  .command('check')
  .description(
    'Report which waiting calls the tools of a module would break, before it is deployed',
  )
  .requiredOption(...AGENTS)
  .option(
    '--against <store>',
    'event log: its file, its folder, or postgres://… (COLLOQUY_DATA, COLLOQUY_DATABASE_URL)',
  )
  .option('--json', 'print the report as JSON')
  .addHelpText(
    'after',
    '\nNothing is run or changed, and Temporal is not asked. Exit code 1 when a call breaks.\nExample: npx colloquy check --agents ./agents.js --against .colloquy',
  )
  .action(async (flags: CheckFlags) => {
    const { runCheck } = await import('./check/check-command.js');
    await runCheck(flags);
  });

program
  .command('doctor')
  .description('Check Temporal, workers, agents and event log, and name conversations that fail')
  .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
  .option('--json', 'print the findings as JSON')
  .option(...retry(0))
  .addHelpText('after', '\nExits with 0 when nothing failed, else with 1. Changes nothing.')
  .action(async (flags: { data?: string; json?: boolean; retry: number }) => {
    const { runDoctor } = await import('./operate/doctor-command.js');
    await runDoctor(flags);
  });

program
  .command('repair <conversation>')
  .description(
    'Report how far the history of a failing conversation replays with this code; with --apply reset it there',
  )
  .option('--tenant <tenant>', 'whose conversation (default: "default")')
  .option('--apply', 'reset it; without this flag nothing is changed')
  .option('--json', 'print the plan as JSON')
  .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
  .option(...retry(0))
  .addHelpText(
    'after',
    '\nRun it with the code that the workers have. Accepted inputs are kept, and no tool with effects once runs twice.\nExits with 0 when nothing is left to repair; with 1 when the conversation has to be reset and was not, or when that failed.\nExample: npx colloquy repair order-42 --apply',
  )
  .action(
    async (
      conversation: string,
      flags: { tenant?: string; apply?: boolean; json?: boolean; data?: string; retry: number },
    ) => {
      const { runRepair } = await import('./operate/repair-command.js');
      await runRepair(conversation, flags);
    },
  );

program
  .command('replay [conversation]')
  .description(
    'Replay the histories of a conversation, of a file (.json) or of a folder with this code, and say where they fail',
  )
  .option('--tenant <tenant>', 'whose conversation (default: "default")')
  .option('--history <folder>', 'every history in a folder, instead of a conversation')
  .option('--json', 'print the outcomes as JSON')
  .option(...retry(0))
  .addHelpText(
    'after',
    '\nA file is what "temporal workflow show --output json" writes. Nothing is changed. Exits with 0 when all replay, else with 1.\nExample: npx colloquy replay order-42',
  )
  .action(async (conversation: string | undefined, flags: ReplayFlags) => {
    const { runReplay } = await import('./operate/replay-command.js');
    await runReplay(conversation, flags);
  });

program
  .command('dev')
  .description('Start a Temporal dev server, a worker and the API, and show every call that waits')
  .requiredOption(...AGENTS)
  .option('--data <folder>', 'folder of all data (COLLOQUY_DATA)')
  .option('--port <number>', 'port of the API (COLLOQUY_PORT)')
  .option(...ROUTES)
  .option('--no-watch', 'do not restart the worker when files beside the module change')
  .action(async (flags: DevFlags) => {
    const { runDev } = await import('./dev/dev-command.js');
    await runDev(flags);
  });

program
  .command('temporal')
  .description('Run the Temporal CLI, or start, stop, reset and find a Temporal dev server')
  .argument('[args...]', 'start | stop | status | reset, or arguments of the Temporal CLI')
  .helpOption(false)
  .helpCommand(false)
  .allowUnknownOption()
  .passThroughOptions()
  .action(async (args: string[]) => {
    const { runTemporal, TEMPORAL_HELP } = await import('./temporal/temporal-command.js');
    if (args.length > 0) process.exitCode = await runTemporal(args);
    else process.stdout.write(`Usage: colloquy temporal [args...]\n${TEMPORAL_HELP}\n`);
  });

addKeyCommands(program);
addConversationCommands(program);
addChatCommand(program);
addWebhookCommands(program);

program.parseAsync().catch(failWith);
