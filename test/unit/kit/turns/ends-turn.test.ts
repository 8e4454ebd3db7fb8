/** Tools whose calls end the turn (`endsTurn`), and what later model calls read of them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { withoutSkipped } from '../../../../src/core/context/transcript.js';
import { defineAgent, defineTool, toolError } from '../../../../src/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import type { ModelRequest } from '../../../../src/protocol/model/model.js';
import { calls, callsAll, says, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { watched } from '../plugins/watched.js';

const input = z.object({});
const rest = defineTool({
  ...{ name: 'rest', description: 'Nothing to do', input, endsTurn: true },
  run: () => ({ rested: true }),
});
const done = defineTool({
  ...{ name: 'done', description: 'Done', executor: 'internal', input, endsTurn: true },
});
const fails = defineTool({
  ...{ name: 'fails', description: 'Fails', input, endsTurn: true },
  run: () => toolError('not now'),
});
const note = defineTool({
  ...{ name: 'note', description: 'Notes', input },
  run: () => 'noted',
});
const broken = defineTool({
  ...{ name: 'broken', description: 'Breaks', input },
  run: () => toolError('broken'),
});

function conversation(
  answers: readonly ScriptedAnswer[],
  more: Partial<Parameters<typeof defineAgent>[0]> = {},
) {
  const { model, requests } = watched(...answers);
  const tools = [rest, done, fails, note, broken];
  const agent = defineAgent({ name: 'a', model, instructions: 'Help.', tools, ...more });
  return { t: testConversation(agent), requests };
}

/** Roles and texts, or names of calls, of the messages that the model was given. */
const readBy = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap(({ role, parts }) =>
    parts.map((part) => `${role} ${'text' in part ? part.text : 'name' in part ? part.name : ''}`),
  );

describe('a step whose only call ends the turn', () => {
  it.each(['rest', 'done'])(
    'ends it without another model call; no later one reads the step, and the log has it (%s)',
    promise('H34'),
    async (name) => {
      const { t, requests } = conversation([calls(name, {}), says('Hello.')]);
      await t.send('One');
      expect(t.snapshot.turn).toBeUndefined();
      expect(requests).toHaveLength(1);
      const ended = { type: 'turn_ended', status: 'completed', steps: 1 };
      expect(t.events.at(-1)).toMatchObject(ended);
      expect(t.events.filter(({ type }) => type === 'tool_result')).toMatchObject([
        { name, result: { envelope: { ok: true } } },
      ]);
      await t.send('Two');
      expect(readBy(requests[1])).toEqual(['user One', 'user Two']);
      expect(t.text).toBe('Hello.');
    },
  );

  it('is read like any other where it fails, is unknown or has wrong arguments', async () => {
    const { t, requests } = conversation([
      ...[calls('fails', {}), says('I see.')],
      ...[calls('nothing', {}), says('I see.')],
    ]);
    await t.send('One');
    expect(readBy(requests[1])).toEqual(['user One', 'assistant fails', 'tool fails']);
    await t.send('Two');
    expect(requests).toHaveLength(4);
  });

  it('goes on where input has come meanwhile, and answers that', async () => {
    let told = (): void => undefined;
    const slow = defineTool({
      ...{ name: 'slow', description: 'Ends, slowly', input, endsTurn: true },
      run: () => {
        told();
        return 'ended';
      },
    });
    const { t, requests } = conversation([calls('slow', {}), says('Paid, then.')], {
      tools: [slow],
    });
    told = () => {
      void t.sendEvent({ eventId: 'e1', kind: 'payment.settled', payload: { order: 42 } });
    };
    await t.send('One');
    expect(t.text).toBe('Paid, then.');
    expect(readBy(requests[1])).toMatchObject([
      'user One',
      expect.stringContaining('payment.settled') as string,
    ]);
  });

  it('has no effect in a turn that must answer in a form', async () => {
    const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const { t, requests } = conversation([calls('rest', {}), says('{"ok":true}')]);
    await t.send('One', { output: form });
    expect(requests).toHaveLength(2);
    expect(readBy(requests[1])).toEqual(['user One', 'assistant rest', 'tool rest']);
  });
});

describe('a step with other calls beside it', () => {
  it('ends the turn, and is read later', async () => {
    const { t, requests } = conversation([
      callsAll([
        { name: 'note', input: {} },
        { name: 'rest', input: {} },
      ]),
      says('Hello.'),
    ]);
    await t.send('One');
    expect(requests).toHaveLength(1);
    await t.send('Two');
    expect(readBy(requests[1])).toEqual([
      ...['user One', 'assistant note', 'assistant rest', 'tool note', 'tool rest', 'user Two'],
    ]);
  });

  it.each([{ settings: {} }, { settings: { toolExecution: 'sequential' as const } }])(
    'does not end the turn where one of them has failed: the model reads why ($settings)',
    async ({ settings }) => {
      const { t, requests } = conversation(
        [
          callsAll([
            { name: 'rest', input: {} },
            { name: 'broken', input: {} },
          ]),
          says('Sorry.'),
        ],
        { settings },
      );
      await t.send('One');
      expect(requests).toHaveLength(2);
      expect(t.text).toBe('Sorry.');
    },
  );
});

it('only the marked step is left out of what model calls read', () => {
  const turnId = 't1';
  const at = (step: number) => ({ turnId, step, parts: [] });
  const messages = [
    { role: 'user', id: 'u', turnId, parts: [] },
    { role: 'assistant', id: 'a1', ...at(1) },
    { role: 'tool', id: 'r1', ...at(1) },
    { role: 'assistant', id: 'a2', ...at(2) },
    { role: 'tool', id: 'r2', ...at(2), skipped: true },
  ] as const;
  expect(withoutSkipped(messages).map(({ id }) => id)).toEqual(['u', 'a1', 'r1']);
  const whole = messages.slice(0, 3);
  expect(withoutSkipped(whole)).toBe(whole);
});
