/** Worker and API in processes of their own, of which the worker has no other settings than those of the API. */
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { promise } from '../../support/promise.js';
import { freePort } from '../../support/servers/dev-server.js';
import { startWorld } from '../support/world.js';

const AGENTS = fileURLToPath(new URL('agents.ts', import.meta.url));
const MESSAGE = 'Which agents are there?';

it('a worker keeps its HTTP tools from the API of the development stack', {
  ...promise('G140'),
}, async () => {
  const apiPort = await freePort();
  const env = { E2E_API_PORT: String(apiPort) };
  const world = await startWorld({ agents: AGENTS, apiPort, env });
  onTestFinished(() => world.stop());
  world.model.answer(MESSAGE, ({ results }) =>
    results.length === 0 ? { calls: [{ name: 'agents.read', input: {} }] } : { text: 'None.' },
  );
  const talk = world.talk('insider-1');
  await talk.begin('insider', MESSAGE);
  await talk.ended();
  const [result] = await talk.eventsOf('tool_result');
  expect(result?.result.envelope).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('is the API of this installation') as string },
  });
});
