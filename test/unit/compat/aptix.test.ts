/** AGN-005 by its headings, with the names of that document: tools, and the checks of the transport. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ConversationError } from '../../../src/client/index.js';
import {
  type AgentExecuteRequest,
  type AgentToolCall,
  type AgentToolExecutionContext,
  agentToolOf,
  agentTransport,
  failed,
  succeeded,
  type TransportClient,
} from '../../../src/compat/aptix/index.js';
import { defineAgent } from '../../../src/index.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

const input = z.object({ path: z.string(), lines: z.number().default(10) });

function conversationWith(
  isToolFullyExecutedOnServer: boolean,
  executeAsync: Parameters<typeof agentToolOf<typeof input>>[0]['executeAsync'],
  lines: unknown[] = [],
) {
  const log = (...line: readonly unknown[]): void => void lines.push(line);
  const tool = agentToolOf({
    name: 'file.read',
    toolUsageMetadata: 'Reads the first lines of a file.',
    ...{ input, isToolFullyExecutedOnServer, executeAsync },
  });
  const model = script(calls('file.read', { path: 'a.txt' }), says('Done.'));
  const agent = defineAgent({ name: 'reasoner', model, instructions: 'Help.', tools: [tool] });
  const logger = { debug: log, info: log, warn: log, error: log };
  return { tool, t: testConversation(agent, { logger }) };
}

describe('4. IAgentTool Contract', () => {
  it('ExecuteAsync gets the call, its context and a token, and returns the call', {
    ...promise('X20', 'X23', 'X26'),
  }, async () => {
    const seen: unknown[] = [];
    const { t } = conversationWith(true, (call, context, token) => {
      seen.push({ ...call }, context, token.aborted);
      call.status = 'read';
      call.resultJson = JSON.stringify({ text: 'Hello' });
      return Promise.resolve(succeeded(call));
    });
    await t.send('Read it', { actor: { id: 'kevin' } });
    const [call, context, aborted] = seen as [
      AgentToolCall,
      AgentToolExecutionContext,
      ...unknown[],
    ];
    expect(call).toEqual({
      toolCallId: 'call_1',
      toolName: 'file.read',
      argumentsJson: '{"path":"a.txt","lines":10}',
      isServerTool: true,
      wasExecuted: false,
      requiresClientExecution: false,
    });
    expect(context).toMatchObject({ agentId: 'reasoner', orgId: 'default', userId: 'kevin' });
    expect(context.sessionId).toBe(context.conversationId);
    expect([aborted, context.input]).toEqual([false, { path: 'a.txt', lines: 10 }]);
    expect(t.result('file.read')).toEqual({ ok: true, result: { text: 'Hello' } });
  });

  it('ToolUsageMetadata is usage text for the model, and must not be empty', promise('X16'), () => {
    const executeAsync = (call: AgentToolCall) => Promise.resolve(succeeded(call));
    const { tool } = conversationWith(true, executeAsync);
    expect(tool.usage).toBe('Reads the first lines of a file.');
    const declared = { name: 'x', input, isToolFullyExecutedOnServer: true, executeAsync };
    expect(() => agentToolOf({ ...declared, toolUsageMetadata: '' })).toThrow('usage: ');
  });

  it('with IsToolFullyExecutedOnServer = false its result is the payload for the client', {
    ...promise('X5', 'X18', 'X22', 'X31'),
  }, async () => {
    const { t } = conversationWith(false, (call, { input: { path } }) => {
      call.resultJson = JSON.stringify({ file: `/repo/${path}` });
      return Promise.resolve(succeeded(call));
    });
    await t.send('Read it');
    expect(t.pending).toMatchObject([
      { name: 'file.read', kind: 'client_execution', prompt: { file: '/repo/a.txt' } },
    ]);
  });
});

describe('5. Agent Tool Executor Responsibilities', () => {
  it.each([
    [
      'returned',
      () => Promise.resolve(failed({ message: 'no such file' }, { message: 'try b.txt' })),
    ],
    [
      'written into the call',
      (call: AgentToolCall) =>
        Promise.resolve(
          succeeded({ ...call, resultJson: '{"part":1}', errorMessage: 'no such file; try b.txt' }),
        ),
    ],
    [
      'without a result that is JSON',
      (call: AgentToolCall) => Promise.resolve(succeeded({ ...call, resultJson: '{' })),
    ],
  ] as const)(
    'Error handling: a failure that is %s is an error that the model reads',
    promise('X32'),
    async (_, run) => {
      for (const isServer of [true, false]) {
        const { t } = conversationWith(isServer, run);
        await t.send('Read it');
        expect(t.result('file.read')).toMatchObject({
          ok: false,
          error: {
            message: expect.stringMatching(
              /^no such file; try b\.txt$|resultJson that is not JSON$/,
            ) as string,
          },
        });
        expect(t.pending).toEqual([]);
      }
    },
  );
});

describe('7. Logging Contract', () => {
  it('an exception that escapes is logged under the tag of the tool, and no more than an error', {
    ...promise('X21', 'X40', 'X46'),
  }, async () => {
    const lines: unknown[] = [];
    const { t } = conversationWith(true, () => Promise.reject(new Error('disk is gone')), lines);
    await t.send('Read it');
    expect(t.result('file.read')).toMatchObject({ ok: false, error: { code: 'tool_error' } });
    expect(JSON.stringify(lines)).toContain('[file.read_ExecuteAsync__Exception]');
  });
});

describe('6. Agent Reasoner Integration: AgentExecuteRequest', () => {
  const none = (): never => {
    throw new Error('nothing may be sent');
  };
  const transport = agentTransport({ conversation: none, turn: none }, { agent: 'reasoner' });
  const results = '[{"toolCallId":"call_1","resultJson":"1"}]';

  it.each<[string, Partial<AgentExecuteRequest>, string]>([
    ['neither message nor results', {}, '/instruction'],
    ['both', { instruction: 'Hi', turnId: 't', toolResultsJson: results }, '/toolResultsJson'],
    ['a message with a turn', { instruction: 'Hi', turnId: 't' }, '/turnId'],
    ['results without a turn', { toolResultsJson: results }, '/turnId'],
    ['results that are no JSON', { turnId: 't', toolResultsJson: '[' }, '/toolResultsJson'],
    ['results that are no list', { turnId: 't', toolResultsJson: '{}' }, '/toolResultsJson'],
    ['no results', { turnId: 't', toolResultsJson: '[]' }, '/toolResultsJson'],
    ['no session', { sessionId: '', instruction: 'Hi' }, '/sessionId'],
  ])(
    'with %s is refused by the field, and nothing is sent',
    promise('X6'),
    async (_, request, path) => {
      expect(await transport.execute({ sessionId: 's-1', ...request })).toMatchObject({
        successful: false,
        errors: [{ errorCode: 'invalid_request', path }],
      });
    },
  );

  /** A turn `t` with calls in some of its steps; `present` is the one that it is in, none where the turn has ended. */
  function answered(withCalls: readonly string[], present?: number, waiting?: string) {
    const taken: string[] = [];
    const callIn = (stepId: string) => {
      return { toolCallId: 'call_1', requiresClientExecution: stepId === waiting };
    };
    const turn = { turnId: 't', stepId: `t.${present ?? 0}`, step: present };
    const result = { status: 'completed', turnId: 't', text: 'Done.', usage: {} };
    const client: TransportClient = {
      conversation: () => ({
        send: none,
        snapshot: () => Promise.resolve((present === undefined ? {} : { turn }) as never),
        step: (stepId) =>
          withCalls.includes(stepId)
            ? Promise.resolve({ toolCalls: [callIn(stepId)] } as never)
            : Promise.reject(new ConversationError('unknown_step', 'No calls')),
        resolveBatch: (stepId) => {
          taken.push(stepId);
          return Promise.resolve({ verdict: 'duplicate' } as never);
        },
      }),
      turn: () => ({ result: () => Promise.resolve(result as never) }),
    };
    return { taken, again: agentTransport(client, { agent: 'reasoner' }) };
  }

  it.each<[string, readonly string[], number | undefined]>([
    ['before a step of text, in which the turn is', ['t.1'], 2],
    ['behind a step of text, while the turn goes on', ['t.2'], 3],
    ['behind a step of text, when the turn has ended', ['t.2'], undefined],
  ])('results that are repeated have their step %s', async (_, steps, present) => {
    const { taken, again } = answered(steps, present);
    const request = { sessionId: 's-1', requestId: 'r', turnId: 't', toolResultsJson: results };
    expect(await again.execute(request)).toMatchObject({ successful: true });
    expect(taken).toEqual(steps);
  });

  it('results for a turn without calls are stale', async () => {
    const { taken, again } = answered([]);
    const request = { sessionId: 's-1', turnId: 't', toolResultsJson: results };
    expect(await again.execute(request)).toMatchObject({ errors: [{ errorCode: 'stale' }] });
    expect(taken).toEqual([]);
  });

  const STRANGE = '[{"toolCallId":"call_1x","resultJson":"1"}]';

  it.each<[string, string, object]>([
    ['an unknown call', STRANGE, { errorCode: 'unknown' }],
    ['no call', '[{"resultJson":"1"}]', { errorCode: 'invalid', path: '/results/0/toolCallId' }],
    [
      'a faulty id',
      '[{"toolCallId":"call_2","resultJson":"1"},{"toolCallId":7,"resultJson":"1"}]',
      { errorCode: 'invalid', path: '/results/1/toolCallId' },
    ],
  ])('results of %s are not stale', async (_, toolResultsJson, error) => {
    const { taken, again } = answered(['t.1'], 2);
    const request = { sessionId: 's-1', turnId: 't', toolResultsJson };
    expect(await again.execute(request)).toMatchObject({ errors: [error] });
    expect(taken).toEqual([]);
  });

  it('results of an unknown call are judged by the step that waits for others', async () => {
    const { taken, again } = answered(['t.1', 't.2'], 2, 't.2');
    await again.execute({ sessionId: 's-1', turnId: 't', toolResultsJson: STRANGE });
    expect(taken).toEqual(['t.2']);
  });

  it('that cannot be sent is a failure, not an exception', promise('X32'), async () => {
    expect(await transport.execute({ sessionId: 's-1', instruction: 'Hi' })).toEqual({
      successful: false,
      errors: [{ message: 'nothing may be sent' }],
    });
  });
});
