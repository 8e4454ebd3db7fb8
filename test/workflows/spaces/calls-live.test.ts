/** A visible call on the stream of a space, from its first characters to its end. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { hsafaTools } from '../../../src/compat/hsafa/index.js';
import { defineAgent, type Model } from '../../../src/index.js';
import { calls, callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { StreamedArguments } from '../../../src/protocol/spaces/spaces.js';
import type { ToolEvent } from '../../../src/protocol/spaces/tool-events.js';
import { spacesPlugin } from '../../../src/spaces/index.js';
import { StreamReader } from '../../support/networks/stream-reader.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { openedServer, runs } from '../../support/started-engines/opened.js';
import { until } from '../../support/until.js';

/** Knows the events of Hsafa alone. */
class HsafaPage extends StreamReader {
  readonly seen: (Partial<StreamedArguments> &
    Partial<Omit<ToolEvent, 'type'>> & { readonly event: string })[] = [];

  protected take({ event = '', data }: { event?: string | undefined; data: string }): void {
    if (event.startsWith('tool.')) this.seen.push({ ...(JSON.parse(data) as object), event });
  }

  async follow(): Promise<void> {
    const reading = this.read();
    onTestFinished(async () => {
      this.cut();
      await reading;
    });
    await until('the stream is open', () => this.status === 200);
  }
}

/** The same model, that writes the arguments of its calls character by character. */
function slowly(model: Model): Model {
  return {
    name: model.name,
    generate: async (request, options) => {
      const late: (() => Promise<void>)[] = [];
      const response = await model.generate(request, {
        ...options,
        onEvent: (event) => {
          if (event.type !== 'tool_arguments') return;
          const { index, text } = event;
          late.push(async () => {
            options.onEvent({ ...event, text: '' });
            for (const char of text) {
              await delay(20);
              options.onEvent({ type: 'tool_arguments', index, text: char });
            }
          });
        },
      });
      for (const write of late) await write();
      return response;
    },
  };
}

test('a call is written, started and done, or waits for its answer, in this order', {
  ...promise('H52', 'H53', 'S26'),
  timeout: patient(90_000),
}, async () => {
  const { colloquy, url, request } = await openedServer();
  const [here, there] = [
    await request<{ readonly id: string }>('/v1/spaces', { name: 'Here' }),
    await request<{ readonly id: string }>('/v1/spaces', { name: 'There' }),
  ];
  const { tools } = hsafaTools([
    {
      ...{ name: 'displayChart', description: 'Draw', executionType: 'internal', visible: true },
      inputSchema: { type: 'object' },
    },
    {
      ...{ name: 'confirmAction', description: 'Ask', executionType: 'space', isAsync: true },
      inputSchema: { type: 'object' },
    },
  ]);
  const bars = { bars: [1, 2, 3, 4, 5] };
  const writer = defineAgent({
    ...{ name: 'writer', instructions: 'Work in the space.', tools, plugins: [spacesPlugin()] },
    model: slowly(
      script(
        calls('displayChart', { outside: true }),
        callsAll([{ name: 'enter_space', input: { spaceId: here.id } }]),
        callsAll([
          { name: 'displayChart', input: bars },
          { name: 'confirmAction', input: { order: 42 } },
          { name: 'enter_space', input: { spaceId: there.id } },
          { name: 'displayChart', input: { for: 'there' } },
        ]),
        says('asked'),
        says('confirmed'),
      ),
    ),
    settings: { toolExecution: 'sequential' },
  });
  const conversationId = randomUUID();
  await runs(colloquy, { agents: [writer], services: {} });
  const member = { kind: 'agent', conversationId, agent: 'writer' };
  const [page, other] = [here, there].map(
    ({ id }) => new HsafaPage(() => `${url}/v1/spaces/${id}/stream?after=0`),
  ) as [HsafaPage, HsafaPage];
  for (const { id } of [here, there]) await request(`/v1/spaces/${id}/members`, { member });
  await page.follow();
  await other.follow();

  const conversation = colloquy.client.conversation(conversationId, { agent: 'writer' });
  await conversation.send('Go', { actor: { id: 'ann' } });
  await until('the call waits', () => page.seen.some(({ status }) => status === 'requires_action'));
  await until('the other space has its chart', () =>
    other.seen.some(({ event }) => event === 'tool.done'),
  );
  const { pending } = await conversation.snapshot();
  await conversation.resolve(pending[0]?.toolCallId ?? '', {
    ...{ type: 'answer', value: { confirmed: true } },
  });
  await until('it is done', () =>
    page.seen.some(({ toolName, event }) => toolName === 'confirmAction' && event === 'tool.done'),
  );

  const eventsOf = (tool: string) => page.seen.filter(({ toolName }) => toolName === tool);
  for (const [tool, input] of [
    ['displayChart', bars],
    ['confirmAction', { order: 42 }],
  ] as const) {
    const written = eventsOf(tool).filter(({ event }) => event === 'tool.streaming');
    expect(written.length).toBeGreaterThan(1);
    expect(JSON.parse(written.map(({ text }) => text).join(''))).toEqual(input);
    const ids = new Set(eventsOf(tool).map(({ toolCallId }) => toolCallId));
    expect(ids.size).toBe(1);
  }
  const after = (tool: string) =>
    eventsOf(tool)
      .slice(eventsOf(tool).findLastIndex(({ event }) => event === 'tool.streaming') + 1)
      .map(({ event, status }) => `${event} ${String(status)}`);
  expect(after('displayChart').at(-1)).toBe('tool.done complete');
  expect(after('confirmAction').slice(-2)).toEqual([
    'tool.started requires_action',
    'tool.done complete',
  ]);
  // Neither the chart outside of spaces nor that of the other space was shown here, nor any call of this one there.
  expect(JSON.stringify(page.seen)).not.toMatch(/outside|for/);
  expect(other.seen.map(({ event }) => event)).not.toContain('tool.streaming');
  expect(JSON.stringify(other.seen)).not.toContain('bars');
});
