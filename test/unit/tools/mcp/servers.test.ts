/** Agents with the tools of servers that plugins have made, as one worker keeps them; no server is reached. */
import { expect, it, onTestFinished } from 'vitest';
import { definePlugin } from '../../../../src/define/define-plugin.js';
import { defineAgent, mcpServer } from '../../../../src/index.js';
import { McpServers } from '../../../../src/tools/mcp/servers.js';
import { serverByMaker } from '../../../../src/tools/shared/factories.js';
import { answer, modelOf } from '../../../activities/tools/fixtures.js';
import { scopesOf } from '../../../support/builders/scopes.js';

const quiet = () => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

it('one that is used again is kept before those that are not', async () => {
  const plugin = definePlugin({
    id: 'rack',
    servers: { one: { make: () => mcpServer({ name: 'kit', url: 'http://127.0.0.1:1' }) } },
  });
  const model = modelOf(() => Promise.resolve(answer({})));
  const agent = defineAgent({ name: 'support', model, instructions: 'Help.' });
  const all = new McpServers({ scopes: scopesOf(), logger });
  onTestFinished(() => all.close());
  const servers = [serverByMaker(plugin, 'one', null)];
  const of = (n: number) => all.equipMade(agent, { servers, tenant: `t${n}` });
  const [first, second] = [await of(0), await of(1)];
  for (let n = 2; n < 100; n += 1) await of(n);
  expect(await of(0)).toBe(first);
  await of(100);
  expect(await of(0)).toBe(first);
  expect(await of(1)).not.toBe(second);
});
