/** Calls of visible tools as messages of the space that the agent is in, over a store in memory. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hsafaTools } from '../../../../src/compat/hsafa/index.js';
import { jsonSchema } from '../../../../src/define/schemas/schema.js';
import { defineTool, type Tool, toolError } from '../../../../src/index.js';
import { shownResult } from '../../../../src/model/shared/results.js';
import { MAX_SPACE_MESSAGE_METADATA_BYTES } from '../../../../src/protocol/limits/service-limits.js';
import { MAX_READ_CHARS } from '../../../../src/spaces/plugin/limits.js';
import { cut, readable } from '../../../../src/spaces/plugin/shown.js';
import { calls, callsAll, says, script } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { ANN, BOT, DESK, roomOf } from '../../../support/spaces/room-of-agent.js';
import { watched } from '../../kit/plugins/watched.js';

const ENTER = { name: 'enter_space', input: { spaceId: DESK } };
const input = z.object({ city: z.string().optional() });
const metadata = { visible: true };

/** A visible tool of each kind that a worker runs. */
const weather = defineTool({
  ...{ name: 'fetchWeather', description: 'Weather', input, metadata },
  run: ({ city }) => ({ city, degrees: 21 }),
});

const OUTSIDE = (name: string): string =>
  `Tool "${name}" is visible but you are not in a space. Call enter_space first.`;

/** The executors of all kinds of calls, and the documents of the other system. */
const EXECUTORS: readonly (readonly [string, Tool])[] = [
  ['server', weather],
  [
    'human',
    defineTool({ name: 'confirm', description: 'Ask', executor: 'human', input, metadata }),
  ],
  [
    'external',
    defineTool({ name: 'ship', description: 'Ship', executor: 'external', input, metadata }),
  ],
  [
    'client',
    defineTool({ name: 'locate', description: 'Find', executor: 'client', input, metadata }),
  ],
  [
    'internal',
    defineTool({ name: 'chart', description: 'Draw', executor: 'internal', input, metadata }),
  ],
  ...hsafaTools([
    {
      name: 'confirmAction',
      description: 'Ask',
      executionType: 'space',
      inputSchema: { type: 'object' },
      isAsync: true,
    },
    {
      name: 'displayChart',
      description: 'Draw',
      executionType: 'internal',
      inputSchema: { type: 'object' },
      visible: true,
    },
    {
      name: 'fetchData',
      description: 'Get',
      executionType: 'external',
      inputSchema: { type: 'object' },
    },
    {
      ...{
        name: 'callGateway',
        description: 'Get',
        executionType: 'gateway',
        inputSchema: { type: 'object' },
      },
      execution: { url: 'https://example.com/x' },
    },
  ]).tools.map((tool) => [`document ${tool.name}`, tool] as const),
];

describe('a visible call outside of a space', () => {
  it.each(EXECUTORS)(
    'is the error of this text, and nothing runs or waits (%s)',
    promise('H26', 'H57', 'S25', 'G369'),
    async (_executor, tool) => {
      const { model, requests } = watched(calls(tool.name, {}), says('done'));
      const { t, messages } = await roomOf(model, [tool]);
      await t.send('Go');
      expect(t.snapshot.pending).toEqual([]);
      expect(await messages()).toEqual([]);
      const [result] = requests[1]?.messages.findLast(({ role }) => role === 'tool')?.parts ?? [];
      if (requests[1] === undefined || result?.type !== 'tool_result') throw new Error('no result');
      expect(shownResult(result.envelope, requests[1])).toEqual({ error: OUTSIDE(tool.name) });
    },
  );

  it('runs in one step with the call that enters the space before it', promise('H33'), async () => {
    const { t, messages } = await roomOf(
      script(callsAll([ENTER, { name: 'fetchWeather', input: {} }]), says('done')),
      [weather],
    );
    await t.send('Go');
    expect(await messages()).toMatchObject([{ kind: 'tool', status: 'complete' }]);
  });

  it('is refused again after the agent was removed from the space', async () => {
    const { t, spaces, messages } = await roomOf(
      script(callsAll([ENTER]), says('in'), calls('fetchWeather', {}), says('done')),
      [weather],
    );
    await t.send('Enter');
    await spaces.leave(ANN, DESK, { kind: 'agent', id: BOT });
    await spaces.join(ANN, DESK, { kind: 'person', id: 'cem' });
    await t.send('Go');
    expect(JSON.stringify(t.events)).toContain(
      JSON.stringify(OUTSIDE('fetchWeather')).slice(1, -1),
    );
    expect(await messages()).toEqual([]);
  });
});

describe('a visible call in a space', () => {
  it(
    'is a message that runs and is complete, with structured input and output; an invisible one is none',
    promise('H14', 'H31', 'H32', 'H47', 'H48', 'S26'),
    async () => {
      const hidden = defineTool({
        ...{ name: 'lookUp', description: 'Look', input, metadata: { visible: false } },
        run: () => 'found',
      });
      const plain = defineTool({ name: 'plain', description: 'P', input, run: () => 'found' });
      const { t, spaces, shown, messages } = await roomOf(
        script(
          callsAll([
            ENTER,
            { name: 'lookUp', input: {} },
            { name: 'plain', input: {} },
            { name: 'fetchWeather', input: { city: 'Oslo' }, id: 'call_w' },
          ]),
          says('done'),
        ),
        [weather, hidden, plain],
      );
      await t.send('Go');
      const base = { toolName: 'fetchWeather', input: { city: 'Oslo' } };
      expect(shown).toMatchObject([
        { status: 'running', metadata: base },
        { status: 'complete', metadata: { ...base, output: { city: 'Oslo', degrees: 21 } } },
      ]);
      const stop = new AbortController();
      const frames = await spaces.watch(ANN, DESK, { after: 0, signal: stop.signal });
      const first = await frames[Symbol.asyncIterator]().next();
      stop.abort();
      expect(first.value).toMatchObject({ type: 'message', message: { status: 'complete' } });
      expect(await messages()).toHaveLength(1);
      expect(await messages()).toMatchObject([
        { kind: 'tool', author: { kind: 'agent', id: BOT }, status: 'complete' },
      ]);
    },
  );

  it('that fails is an error with its reason', promise('S26'), async () => {
    const broken = defineTool({
      ...{ name: 'broken', description: 'Fails', input, metadata },
      run: () => toolError('no such city'),
    });
    const { t, shown } = await roomOf(
      script(callsAll([ENTER, { name: 'broken', input: {} }]), says('done')),
      [broken],
    );
    await t.send('Go');
    expect(shown.map(({ status }) => status)).toEqual(['running', 'error']);
    expect(shown[1]?.metadata?.['error']).toEqual({ code: 'tool_error', message: 'no such city' });
  });

  it('that asks requires action until the answer is there', promise('S26'), async () => {
    const refund = defineTool({
      ...{ name: 'refund', description: 'Pays back', input, metadata },
      run: async (_input, ctx) => {
        const form = jsonSchema<{ ok: boolean }>({
          type: 'object',
          properties: { ok: { type: 'boolean' } },
          required: ['ok'],
        });
        const answer = await ctx.answerTo(form);
        return answer ?? ctx.ask({ form, reason: 'Refund?' });
      },
    });
    const { t, shown, messages } = await roomOf(
      script(callsAll([ENTER, { name: 'refund', input: {} }]), says('done')),
      [refund],
    );
    await t.send('Go');
    expect(await messages()).toMatchObject([{ status: 'requires_action' }]);
    await t.answer('refund', { ok: true });
    expect(shown.map(({ status }) => status)).toEqual([
      ...['running', 'requires_action', 'running', 'complete'],
    ]);
    expect(await messages()).toMatchObject([
      { status: 'complete', metadata: { output: { ok: true } } },
    ]);
  });

  it('is read with its input and output by agents that enter the space, or read its messages', {
    ...promise('H48'),
  }, async () => {
    const broken = defineTool({
      ...{ name: 'broken', description: 'Fails', input, metadata },
      run: () => toolError('no such city'),
    });
    const report = defineTool({
      ...{ name: 'report', description: 'Long', input, metadata },
      run: () => ({ lines: 'x'.repeat(20_000) }),
    });
    const { t } = await roomOf(
      script(
        callsAll([
          ENTER,
          { name: 'fetchWeather', input: { city: 'Oslo' } },
          { name: 'broken', input: {} },
          { name: 'report', input: {} },
          ENTER,
          { name: 'read_messages', input: { limit: 3 } },
        ]),
        says('done'),
      ),
      [weather, broken, report],
    );
    await t.send('Go');
    const histories = t.events.flatMap((event) =>
      event.type === 'tool_result' && ['enter_space', 'read_messages'].includes(event.name)
        ? [event.result.envelope]
        : [],
    );
    const beginning = '{"lines":"'.padEnd(MAX_READ_CHARS, 'x');
    const messages = [
      {
        ...{ tool: 'fetchWeather', status: 'complete', input: { city: 'Oslo' } },
        output: { city: 'Oslo', degrees: 21 },
      },
      {
        ...{ tool: 'broken', status: 'error', input: {} },
        error: { code: 'tool_error', message: 'no such city' },
      },
      {
        ...{ tool: 'report', status: 'complete', input: {} },
        output: { cut: true, bytes: 20_012, beginning },
      },
    ].map((message) => expect.objectContaining(message) as unknown);
    expect(histories.slice(1)).toEqual([
      { ok: true, result: expect.objectContaining({ messages }) as unknown },
      { ok: true, result: expect.objectContaining({ messages }) as unknown },
    ]);
  });

  it('is one message where its worker was lost and it ran again', promise('G369'), async () => {
    const { t, messages } = await roomOf(
      script(callsAll([ENTER]), calls('fetchWeather', {}), says('done')),
      [weather],
    );
    t.loseRuns('fetchWeather');
    await t.send('Go');
    expect(await messages()).toHaveLength(1);
  });
});

it(
  'shows the beginning of values that are too large or too deep, within the bound of metadata',
  promise('H48'),
  () => {
    const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {});
    expect(cut({ a: [1, null] })).toEqual({ a: [1, null] });
    expect(cut(deep as never)).toMatchObject({ cut: true });
    const large = cut('é\u{1f600}'.repeat(20_000));
    expect(large).toMatchObject({ cut: true, bytes: 120_002 });
    const bytes = Buffer.byteLength(JSON.stringify({ input: large, output: large }));
    expect(bytes).toBeLessThan(MAX_SPACE_MESSAGE_METADATA_BYTES / 2);
    // A model reads less of the beginning, and of how much it is the beginning.
    expect(readable({ a: [1, null] })).toEqual({ a: [1, null] });
    expect(readable(large)).toEqual({
      ...{ cut: true, bytes: 120_002 },
      beginning: `"${'é\u{1f600}'.repeat(400)}`.slice(0, MAX_READ_CHARS),
    });
    // A result that only looks so is cut like any other.
    expect(readable({ cut: true, beginning: 7, more: 'x'.repeat(9_000) })).toMatchObject({
      beginning: expect.stringMatching(/^\{"cut":true,"beginning":7/) as unknown,
    });
  },
);
