/** The logging contract: exceptions of tools under their tag, events as a source and an array of pairs (S40). */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Agent, type AgentSpec, defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { Logger, LogLevel } from '../../../src/define/tool/context.js';
import { ToolRetry } from '../../../src/define/tool/retry.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../src/testing/test-conversation.js';
import { toolLogger } from '../../../src/tools/shared/tool-logger.js';
import { promise } from '../../support/promise.js';

interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function keeping(): { readonly logger: Logger; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const at = (level: LogLevel) => (message: string, fields?: Line['fields']) => {
    lines.push({ level, message, fields: fields ?? {} });
  };
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { logger, lines };
}

const fail = (): never => {
  throw new Error('the pump is dry');
};
const spec = { name: 'pump.start', description: 'd', input: z.object({ secret: z.string() }) };
const INPUT = { secret: 'hunter2' };

type Tools = NonNullable<AgentSpec<unknown>['tools']>;

async function logged(
  tools: Tools,
  more: Partial<AgentSpec<unknown>> = {},
): Promise<{ lines: readonly Line[]; error: unknown; agent: Agent }> {
  const model = script(calls('pump.start', INPUT), says('done'));
  const agent = defineAgent({ name: 'a', instructions: 'i', model, tools, ...more });
  const { logger, lines } = keeping();
  const t = testConversation(agent, { logger });
  if (tools.some(({ reconcile }) => reconcile !== undefined)) t.loseRuns('pump.start');
  await t.send('go');
  const envelope = t.result('pump.start');
  return { lines, agent, error: envelope?.ok === false ? envelope.error : undefined };
}

describe('an exception of a tool', () => {
  const ids = (phase: string): unknown => [
    { key: 'ConversationId', value: 'test' },
    { key: 'SessionId', value: 'test' },
    { key: 'TurnId', value: 'turn_test_1' },
    { key: 'ToolCallId', value: 'call_1' },
    { key: 'Phase', value: phase },
  ];
  const client = { ...spec, executor: 'client' as const };
  const once = { effects: 'once' as const, run: () => 1, reconcile: fail };

  it.each<[string, Tools, Partial<AgentSpec<unknown>>, number]>([
    ['run', [defineTool({ ...spec, run: fail })], {}, 1],
    ['preflight', [defineTool({ ...client, preflight: fail })], {}, 1],
    ['reconcile', [defineTool({ ...spec, ...once })], {}, 5],
    ['approval', [defineTool({ ...spec, approval: fail, run: () => 1 })], {}, 1],
    ['toolPolicy', [defineTool({ ...spec, run: () => 1 })], { toolPolicy: fail }, 1],
  ])(
    'in its %s is logged under the tag of the tool, with the ids as pairs',
    promise('S40', 'X40', 'X48', 'X49'),
    async (phase, tools, more, times) => {
      const { lines } = await logged(tools, more);
      const expected = {
        level: 'error',
        message: '[pump.start_ExecuteAsync__Exception]',
        fields: {
          source: 'pump.start_ExecuteAsync',
          pairs: ids(phase),
          error: expect.stringContaining('the pump is dry') as string,
        },
      };
      expect(lines).toEqual(Array.from({ length: times }, () => expected));
      // The log of the conversation has the arguments of the call, and no log line does.
      expect(JSON.stringify(lines)).not.toContain('hunter2');
    },
  );

  it('reaches the model without its stack, and a policy’s not at all', async () => {
    const run = await logged([defineTool({ ...spec, run: fail })]);
    expect(JSON.stringify(run.error)).toContain('the pump is dry');
    expect(JSON.stringify(run.error)).not.toContain('.ts');
    const policy = await logged([defineTool({ ...spec, approval: fail, run: () => 1 })]);
    expect(JSON.stringify(policy.error)).not.toContain('the pump is dry');
  });

  it('that asks for another run is a warning, not an error', async () => {
    const again = (): never => {
      throw new ToolRetry({ message: 'later' });
    };
    const { lines } = await logged([defineTool({ ...spec, maxAttempts: 2, run: again })]);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
  });
});

describe('an event of a tool', () => {
  it('has a level, a source, a message and an array of pairs that are texts', {
    ...promise('S40', 'X41', 'X49'),
  }, async () => {
    const run = defineTool({
      ...spec,
      run: (_input, ctx) => {
        ctx.logger.event('info', 'primed', { litres: 3, hose: undefined, ConversationId: 'mine' });
        ctx.logger.debug('plain', { more: 1 });
      },
    });
    const { lines } = await logged([run]);
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'primed',
        fields: {
          source: 'pump.start_ExecuteAsync',
          pairs: [
            { key: 'ConversationId', value: 'test' },
            { key: 'SessionId', value: 'test' },
            { key: 'TurnId', value: 'turn_test_1' },
            { key: 'ToolCallId', value: 'call_1' },
            { key: 'litres', value: '3' },
            { key: 'hose', value: '' },
            { key: 'ConversationId', value: 'mine' },
          ],
        },
      },
      { level: 'debug', message: 'plain', fields: { more: 1 } },
    ]);
  });

  it('can be written by policies, too', async () => {
    const gated = defineTool({
      ...spec,
      approval: (_input, ctx) => {
        ctx.logger.event('warn', 'asked');
        return 'allow';
      },
      run: () => 1,
    });
    const { lines } = await logged([gated]);
    expect(lines).toMatchObject([{ level: 'warn', message: 'asked' }]);
  });

  it('has empty texts for ids that are not known', promise('S40', 'X41'), () => {
    const { logger, lines } = keeping();
    toolLogger(logger, 'x', {}).event('error', 'm');
    expect(lines[0]?.fields['pairs']).toEqual(
      ['ConversationId', 'SessionId', 'TurnId', 'ToolCallId'].map((key) => ({ key, value: '' })),
    );
  });
});
