/**
 * The development stack, its Temporal UI and the `temporal` command: people can read compressed payloads of the
 * history.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Stack, startStack } from 'colloquy/dev';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort, temporalDev } from '../../support/servers/dev-server.js';
import { call, DEV_SECRET } from '../support/api.js';
import { startScenarioModel } from '../support/scenario-model.js';
import { Talk } from '../support/talk.js';
import { AGENTS } from '../support/world.js';

const run = promisify(execFile);
const LONG = 'Tell me a long story. '.repeat(1_000);

let stack: Stack;
const closers: (() => Promise<unknown>)[] = [];

async function startOnFreePorts(
  options: Omit<Parameters<typeof startStack>[0], 'apiPort' | 'temporalPort'>,
): Promise<Stack> {
  const [apiPort, temporalPort, temporalUiPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  return await startStack({ ...options, apiPort, temporalPort, temporalUiPort });
}

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'colloquy-e2e-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const model = await startScenarioModel();
  closers.push(() => model.close());
  const env = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'scripted',
    E2E_FOLDER: folder,
    DEMO_LEDGER: join(folder, 'refunds.jsonl'),
    COLLOQUY_LOG_LEVEL: 'warn',
    COLLOQUY_DEV_SECRET: DEV_SECRET,
  };
  const options = { agentsModule: AGENTS, dataDir: folder, env };
  // The UI needs the address of the API before that listens, so the port is chosen here; another test may take it in
  // between.
  stack = await startOnFreePorts(options).catch((error: unknown) => {
    if (!String(error).includes('is taken')) throw error;
    return startOnFreePorts(options);
  });
  closers.push(() => stack.stop());
});
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

/** The stdout of `temporal`. */
async function temporal(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(temporalDev('--print-binary'), [
    ...args,
    ...['--address', stack.temporal.address],
  ]);
  return stdout;
}

/** A history in JSON with its payloads as text. */
function readable(json: string): string {
  return json.replaceAll(/"data":\s*"([^"]*)"/g, (_field, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
}

describe('a conversation with a long message', () => {
  it('is readable by the temporal command with the codec endpoint; its replies are readable without', {
    ...promise('G287'),
  }, async () => {
    const talk = new Talk('long', () => stack.apiUrl);
    await talk.begin('support', LONG);
    const workflow = ['--workflow-id', talk.workflowId];
    const show = ['workflow', 'show', ...workflow, '--output', 'json'];
    const endpoint = ['--codec-endpoint', `${stack.apiUrl}/codec`];
    // Booleans instead of texts, because a failure would print the texts whole.
    expect(readable(await temporal(...show)).includes(LONG)).toBe(false);
    expect(readable(await temporal(...show, ...endpoint)).includes(LONG)).toBe(true);
    const query = ['workflow', 'query', ...workflow, '--name', 'events', '--input', '{"after":0}'];
    expect((await temporal(...query)).includes(LONG)).toBe(true);
  });
});

describe('the Temporal UI of the stack', () => {
  it('is linked to the web page by each conversation', async () => {
    const talk = new Talk('linked', () => stack.apiUrl);
    await talk.begin('support', 'Hello');
    const described = ['workflow', 'describe', '--workflow-id', talk.workflowId];
    const link = `${stack.apiUrl}/ui/conversations/${talk.id}`;
    expect(readable(await temporal(...described, '--output', 'json'))).toContain(link);
  });

  it(
    'has payloads decoded by the API, which allows requests from its pages',
    promise('G287'),
    async () => {
      const { uiUrl = '' } = stack.temporal;
      const { body } = await call(`${uiUrl}/api/v1/settings`);
      expect(body['Codec']).toMatchObject({ Endpoint: `${stack.apiUrl}/codec` });
      for (const origin of [uiUrl, uiUrl.replace('127.0.0.1', 'localhost')]) {
        const preflight = await fetch(`${stack.apiUrl}/codec/decode`, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST' },
        });
        expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
      }
    },
  );
});
