/** Agents with the plugin of spaces end to end: one enters a space and writes, and the other is woken. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { hsafaTools } from '../../../src/compat/hsafa/index.js';
import { defineAgent, type Tool } from '../../../src/index.js';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { SpaceMessage } from '../../../src/protocol/spaces/spaces.js';
import { spacesPlugin } from '../../../src/spaces/index.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { openedServer, runs } from '../../support/started-engines/opened.js';
import { until } from '../../support/until.js';

function agentOf(name: string, model: ReturnType<typeof script>, tools: readonly Tool[] = []) {
  return defineAgent({
    ...{ name, model, instructions: 'Work in the space.', tools, plugins: [spacesPlugin()] },
    settings: { toolExecution: 'sequential' },
  });
}

test('an agent enters a space and writes, which wakes the other agent; its visible calls are shown and wake none', {
  ...promise('H17', 'H29', 'H33', 'H46', 'H51', 'H53', 'S26', 'S27', 'G371'),
  timeout: patient(90_000),
}, async () => {
  const { colloquy, request } = await openedServer();
  const { id } = await request<{ readonly id: string }>('/v1/spaces', { name: 'Desk' });
  const { tools } = hsafaTools([
    {
      ...{ name: 'confirmAction', description: 'Ask', executionType: 'space', isAsync: true },
      inputSchema: { type: 'object' },
    },
    {
      ...{ name: 'displayChart', description: 'Draw', executionType: 'internal', visible: true },
      inputSchema: { type: 'object' },
    },
  ]);
  const enter = { name: 'enter_space', input: { spaceId: id } };
  const writer = agentOf(
    'writer',
    script(
      calls('displayChart', { bars: [1] }),
      callsAll([
        enter,
        { name: 'displayChart', input: { bars: [2] } },
        { name: 'confirmAction', input: { order: 42 } },
        { name: 'send_message', input: { text: 'Please check order 42.' } },
      ]),
      says('asked'),
      says('confirmed'),
    ),
    tools,
  );
  const reader = agentOf('reader', script(calls('skip', {}), says('')));
  const [writes, reads] = [randomUUID(), randomUUID()];
  await runs(colloquy, { agents: [writer, reader], services: {} });
  for (const [conversationId, agent] of [
    [writes, 'writer'],
    [reads, 'reader'],
  ] as const)
    await request(`/v1/spaces/${id}/members`, { member: { kind: 'agent', conversationId, agent } });

  await colloquy.client
    .conversation(writes, { agent: 'writer' })
    .send('Look at order 42', { actor: { id: 'ann' } });
  const messages = async (): Promise<readonly SpaceMessage[]> =>
    (await request<{ readonly messages: readonly SpaceMessage[] }>(`/v1/spaces/${id}/messages`))
      .messages;
  const status = async (tool: string): Promise<string | undefined> =>
    (await messages()).find(({ metadata }) => metadata?.['toolName'] === tool)?.status;
  await until('the call waits in the space', async () => {
    return (await status('confirmAction')) === 'requires_action';
  });
  await until('the chart is shown', async () => (await status('displayChart')) === 'complete');
  const eventsOf = async (conversationId: string) =>
    (await colloquy.log.read({ tenant: 'default', conversationId }))?.events ?? [];
  await until('the other agent has skipped', async () => {
    return (await eventsOf(reads)).some(({ type }) => type === 'turn_ended');
  });
  const woken = (await eventsOf(reads)).filter(({ type }) => type === 'inbox_event');
  expect(woken).toMatchObject([
    { kind: 'space.message', payload: { text: 'Please check order 42.', hops: 1 } },
  ]);

  const asked = (await messages()).find(({ status }) => status === 'requires_action');
  const yes = { type: 'answer', value: { confirmed: true } };
  const path = `/v1/spaces/${id}/messages/${asked?.id ?? ''}/resolution`;
  expect(await request(path, yes)).toMatchObject({ verdict: 'accepted' });
  await until('the call is complete', async () => (await status('confirmAction')) === 'complete');
  expect(
    (await messages()).map(({ kind, metadata }) => metadata?.['toolName'] ?? kind).sort(),
  ).toEqual(['confirmAction', 'displayChart', 'text']);
  const [refused] = (await eventsOf(writes)).filter(({ type }) => type === 'tool_result');
  expect(refused).toMatchObject({
    result: {
      envelope: {
        error: {
          message:
            'Tool "displayChart" is visible but you are not in a space. Call enter_space first.',
        },
      },
    },
  });
});
