/** Skills: the model knows their descriptions, and gets instructions and tools of those that it activates. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineSkill, defineTool, type Skill, skills } from '../../../../src/index.js';
import {
  calls,
  callsAll,
  type ScriptedModel,
  says,
  scriptedBy,
  testConversation,
} from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: 'Does it.',
    input: z.object({}),
    run: () => `${name} ran`,
    ...more,
  });
const skill = (name: string, tools = [tool(`${name}.use`)]) =>
  defineSkill({
    name,
    description: `Good for ${name}.`,
    instructions: `How to do ${name}.`,
    tools,
  });

interface Seen {
  readonly tools: readonly string[];
  readonly texts: string;
}

/** An agent with skills whose model makes these answers, and everything that it was given. */
function agentWith(list: readonly Skill[], answers: Parameters<typeof scriptedBy>[0]) {
  const seen: Seen[] = [];
  const model: ScriptedModel = scriptedBy((request) => {
    const { tools, messages, system } = request;
    const texts = `${system}\n${JSON.stringify(tools)}\n${JSON.stringify(messages)}`;
    seen.push({ tools: tools.map(({ name }) => name), texts });
    return answers(request);
  });
  const agent = defineAgent({
    name: 'helper',
    model,
    instructions: 'Help.',
    plugins: [skills(list)],
  });
  return { agent, seen };
}

/** Each answer of a conversation in its order. */
function inOrder(...answers: readonly ReturnType<typeof says>[]) {
  let at = 0;
  return () => answers[Math.min(at++, answers.length - 1)] ?? says('');
}

describe('a skill', () => {
  it(
    'is a description until it is active, then instructions and tools from the next step',
    promise('G320'),
    async () => {
      const { agent, seen } = agentWith(
        [skill('sums'), skill('maps')],
        inOrder(
          calls('skills.activate', { skill: 'sums' }),
          calls('sums.use', {}),
          calls('skills.deactivate', { skill: 'sums' }),
          says('done'),
        ),
      );
      const t = testConversation(agent);
      await t.send('add up');
      expect(t.text).toBe('done');
      expect(seen.map(({ tools }) => tools)).toEqual([
        ['skills.activate'],
        ['sums.use', 'skills.activate', 'skills.deactivate'],
        ['sums.use', 'skills.activate', 'skills.deactivate'],
        ['skills.activate'],
      ]);
      expect(seen.map(({ texts }) => texts.includes('How to do sums.'))).toEqual([
        false,
        true,
        true,
        false,
      ]);
      expect(seen[0]?.texts).toContain('Good for maps.');
      expect(t.result('sums.use')).toMatchObject({ result: 'sums.use ran' });
      expect(t.eventsOf('state_patch').map(({ changes }) => changes)).toEqual([
        [{ op: 'set', path: '/sums', value: true }],
        [{ op: 'remove', path: '/sums' }],
      ]);
    },
  );

  it(
    'stays active over turns, roll-overs and a deploy that keeps it',
    promise('G320'),
    async () => {
      const { agent, seen } = agentWith(
        [skill('sums'), skill('maps')],
        inOrder(
          callsAll(
            ['sums', 'maps'].map((name) => ({ name: 'skills.activate', input: { skill: name } })),
          ),
          says('both'),
          says('again'),
        ),
      );
      const t = testConversation(agent);
      await t.send('go');
      t.rollOver();
      await t.deploy(agentWith([skill('maps')], () => says('x')).agent);
      await t.send('more');
      // The skill that is gone is ignored, and the other is still active.
      expect(seen.at(-1)?.tools).toEqual(['maps.use', 'skills.deactivate']);
    },
  );

  it(
    'may be deactivated while its call waits, which stays answerable',
    promise('G321'),
    async () => {
      const gated = tool('maps.use', { approval: 'required', mode: 'detach' });
      const { agent } = agentWith(
        [skill('maps', [gated])],
        inOrder(
          calls('skills.activate', { skill: 'maps' }),
          callsAll([
            { name: 'maps.use', input: {} },
            { name: 'skills.deactivate', input: { skill: 'maps' } },
          ]),
          says('later'),
          says('read it'),
        ),
      );
      const t = testConversation(agent);
      await t.send('go');
      expect(t.pending).toHaveLength(1);
      await t.approve('maps.use');
      expect(t.eventsOf('inbox_event')[0]?.result?.envelope).toEqual({
        ok: true,
        result: 'maps.use ran',
      });
    },
  );

  it('that is unknown, or not active, gives the model an error', promise('G321'), async () => {
    const { agent } = agentWith(
      [skill('maps')],
      inOrder(
        callsAll([
          { name: 'skills.activate', input: { skill: 'x' } },
          { name: 'maps.use', input: {} },
        ]),
        says('oh'),
      ),
    );
    const t = testConversation(agent);
    await t.send('go');
    expect(t.result('skills.activate')).toMatchObject({ error: { code: 'invalid_input' } });
    expect(t.result('maps.use')).toMatchObject({ error: { code: 'unknown_tool' } });
  });

  it('activated twice is active once, and one that is not active may be deactivated', async () => {
    const { agent } = agentWith(
      [skill('maps'), skill('sums')],
      inOrder(
        callsAll(
          ['activate', 'activate'].map((name) => ({
            name: `skills.${name}`,
            input: { skill: 'maps' },
          })),
        ),
        calls('skills.deactivate', { skill: 'sums' }),
        says('ok'),
      ),
    );
    const t = testConversation(agent);
    await t.send('go');
    expect(t.calls().every(({ result }) => result?.ok === true)).toBe(true);
    expect(t.text).toBe('ok');
  });

  it('is defined by rules that name the field', () => {
    const of = (spec: object) => () =>
      defineSkill({ name: 'a', description: 'x', instructions: 'y', ...spec });
    expect(of({ description: ' ' })).toThrow('description: must be a non-empty text');
    expect(of({ instructions: 7 })).toThrow('instructions: must be a non-empty text');
    expect(of({ tools: [7] })).toThrow('tools[0]: must come from defineTool');
    expect(of({ more: 1 })).toThrow('more: unknown field');
    expect(() => skills([])).toThrow('skills: must be a list of one skill or more');
    expect(() => skills([skill('a'), skill('a')])).toThrow('skills[1]: duplicate name "a"');
    expect(() => skills([{} as never])).toThrow('skills[0]: must come from defineSkill');
  });
});
