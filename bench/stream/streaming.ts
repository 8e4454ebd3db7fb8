/**
 * `npm run bench -- --only streaming`: the overhead of the engine on a model's stream, through either API. First token:
 * from the model server to a reader of the API's event stream, against a reader of the model's own stream. CPU of a
 * long answer: adapter, deltas and live channel in one process, against reading the same stream with OpenAI's client.
 * Both alternately, in one run.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openaiModel } from 'colloquy';
import { type Stack, startStack } from 'colloquy/dev';
import { openEventLog } from 'colloquy/log';
import { OpenAI } from 'openai';
import { ModelStream } from '#dist/activities/model/model-stream.js';
import { startDevServer } from '../../test/support/servers/dev-server.js';
import { median } from '../shared/stats.js';
import { type Asked, nowMs, stampIn } from './server.js';

const SHORT: Asked = { tokens: 5, paceMs: 2 };
const LONG: Asked = { tokens: 2_000, paceMs: 0 };
const UNSEEN_MS = 2_000;
const BAR = { addedMs: 10, cpuRatio: 1.2 } as const;

const APIS = ['chat', 'responses'] as const;
type Api = (typeof APIS)[number];

const script = (name: string): string => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

async function started(
  name: string,
  args: readonly string[] = [],
): Promise<[ChildProcess, string]> {
  const child = fork(script(name), args);
  const said = await new Promise<unknown>((resolve) => child.once('message', resolve));
  return [child, String(said)];
}

async function directDelay(modelUrl: string, api: Api): Promise<number> {
  const said = [{ role: 'user', content: JSON.stringify(SHORT) }];
  const [path, body] =
    api === 'chat' ? ['/chat/completions', { messages: said }] : ['/responses', { input: said }];
  const response = await fetch(`${modelUrl}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  let text = '';
  let delay: number | undefined;
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const stamp = stampIn(text);
    if (stamp !== undefined) delay ??= nowMs() - stamp;
  }
  if (delay === undefined) throw new Error('no stamp came');
  return delay;
}

/** Delays of the engine, and of the stream itself, by API. */
async function firstTokens(
  samples: number,
  modelUrl: string,
): Promise<Readonly<Record<Api, readonly number[][]>>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-streaming-'));
  const server = await startDevServer({ dbFile: join(dataDir, 'temporal.db') });
  const stack = await startStack({
    agentsModule: script('agent'),
    dataDir,
    apiPort: 0,
    temporalAddress: server.address,
    env: { BENCH_MODEL_URL: modelUrl },
    onLine: (line, from) => {
      if (/"level":(40|50|60)|ERROR|WARN/.test(line)) console.error(`${from}: ${line}`);
    },
  });
  try {
    const of = {
      chat: await readerOf(stack, 'chat'),
      responses: await readerOf(stack, 'responses'),
    };
    const delays: Record<Api, number[][]> = { chat: [[], []], responses: [[], []] };
    for (let sample = -5; sample < samples; sample += 1)
      for (const api of APIS) {
        const pair = [await of[api](), await directDelay(modelUrl, api)];
        if (sample >= 0) for (const [side, delay] of pair.entries()) delays[api][side]?.push(delay);
      }
    return delays;
  } finally {
    await stack.stop();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Sends a message and measures its first token, as seen by a page. */
async function readerOf(
  { apiUrl, apiHeaders }: Pick<Stack, 'apiUrl' | 'apiHeaders'>,
  api: Api,
): Promise<() => Promise<number>> {
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { ...apiHeaders, 'content-type': 'application/json' };
    const response = await fetch(`${apiUrl}/v1/conversations${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    await response.arrayBuffer();
  };
  const text = JSON.stringify(SHORT);
  await post('?wait=result', { id: api, agent: `bench-streaming-${api}`, message: text });
  let arrived: ((delay: number) => void) | undefined;
  const headers = { ...apiHeaders, accept: 'text/event-stream' };
  get(`${apiUrl}/v1/conversations/${api}/events`, { agent: false, headers }, (response) => {
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const stamp = chunk.includes('live.text_delta') ? stampIn(chunk) : undefined;
      if (stamp !== undefined) arrived?.(nowMs() - stamp);
    });
  }).on('error', () => undefined);
  await sleep(500);
  const oneDelay = async (): Promise<number | undefined> => {
    const delay = new Promise<number>((resolve) => {
      arrived = resolve;
    });
    await post(`/${api}/messages?wait=result`, { text });
    return await Promise.race([delay, sleep(UNSEEN_MS, undefined)]);
  };
  return async () => {
    // On a busy machine the reader may not be connected yet: then the token is missed, and another one is requested.
    for (;;) {
      const delay = await oneDelay();
      if (delay !== undefined) return delay;
    }
  };
}

/** Reads the long answer with OpenAI's client. */
async function textRead(client: OpenAI, api: Api): Promise<string> {
  const said = [{ role: 'user' as const, content: JSON.stringify(LONG) }];
  let text = '';
  if (api === 'chat') {
    const asked = { model: 'm', stream: true, messages: said } as const;
    for await (const chunk of await client.chat.completions.create(asked))
      text += chunk.choices[0]?.delta.content ?? '';
    return text;
  }
  for await (const event of await client.responses.create({
    model: 'm',
    stream: true,
    input: said,
  }))
    if (event.type === 'response.output_text.delta') text += event.delta;
  return text;
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** CPU milliseconds of reading the answer, and of the engine's work with it without a watcher and with one. */
async function cpuOfAnswer(
  rounds: number,
  modelUrl: string,
  api: Api,
): Promise<readonly number[][]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'colloquy-streaming-'));
  const file = join(dataDir, 'log.db');
  const opened = await openEventLog(file);
  const key = { tenant: 'default', conversationId: 'watched' };
  const [watcher] = await started('watcher', [file, key.conversationId]);
  while (opened.live.watched(key) === undefined) await sleep(50);
  const client = new OpenAI({ baseURL: modelUrl, apiKey: 'none' });
  const model = openaiModel('stamped', { baseURL: modelUrl, api, apiKey: 'none' });
  const read = async (): Promise<void> => {
    const text = await textRead(client, api);
    if (text.length < LONG.tokens) throw new Error('not all was read');
  };
  const asked = async (about: typeof key): Promise<void> => {
    const origin = { turnId: 't', step: 1, attempt: 1, messageId: 't.1' };
    const stream = new ModelStream(origin, (event) => {
      if (opened.live.watched(about)?.live === true)
        opened.live.publish({ type: 'live', event, ...about });
    });
    const parts = [{ type: 'text' as const, text: JSON.stringify(LONG) }];
    const user = { role: 'user' as const, id: 'u', turnId: 't', parts };
    await model.generate(
      { system: '', messages: [user], tools: [] },
      {
        signal: new AbortController().signal,
        onEvent: (event) => {
          stream.take(event);
        },
      },
    );
    stream.close();
  };
  const unwatched = { ...key, conversationId: 'alone' };
  const ways = [read, () => asked(unwatched), () => asked(key)];
  const spent: number[][] = ways.map(() => []);
  for (let round = -3; round < rounds; round += 1)
    for (let turn = 0; turn < ways.length; turn += 1) {
      // Each is first, second and last equally often.
      const index = (turn + round + ways.length) % ways.length;
      const ms = await cpuOf(ways[index] ?? read);
      if (round >= 0) spent[index]?.push(ms);
    }
  watcher.disconnect();
  await opened.close();
  await rm(dataDir, { recursive: true, force: true });
  return spent;
}

export interface StreamingResult {
  readonly api: Api;
  readonly samples: number;
  /** Medians. */
  readonly firstTokenMs: {
    readonly engine: number;
    readonly direct: number;
    readonly added: number;
  };
  /** Medians of one answer: reading it, and the engine's work without a watcher and with one. */
  readonly cpuMs: { readonly reading: number; readonly alone: number; readonly watched: number };
  readonly cpuRatio: { readonly alone: number; readonly watched: number };
  readonly met: { readonly firstToken: boolean; readonly cpu: boolean };
}

/**
 * Starts everything that it needs. `samples`: first tokens of each API; the number of long answers is a third of that.
 */
export async function measureStreaming(samples: number): Promise<readonly StreamingResult[]> {
  const [modelServer, modelUrl] = await started('server');
  try {
    const tokens = await firstTokens(samples, modelUrl);
    const results: StreamingResult[] = [];
    for (const api of APIS) {
      const spent = await cpuOfAnswer(Math.max(6, Math.ceil(samples / 3)), modelUrl, api);
      results.push(resultOf(api, tokens[api], spent));
    }
    return results;
  } finally {
    modelServer.disconnect();
  }
}

function resultOf(
  api: Api,
  [engine = [], direct = []]: readonly (readonly number[])[],
  spent: readonly (readonly number[])[],
): StreamingResult {
  const [reading = Number.NaN, alone = Number.NaN, watched = Number.NaN] = spent.map((of) =>
    median(of),
  );
  const added = median(engine) - median(direct);
  return {
    api,
    samples: engine.length,
    firstTokenMs: { engine: median(engine), direct: median(direct), added },
    cpuMs: { reading, alone, watched },
    cpuRatio: { alone: alone / reading, watched: watched / reading },
    met: {
      firstToken: added < BAR.addedMs,
      cpu: Math.max(alone, watched) / reading <= BAR.cpuRatio,
    },
  };
}
