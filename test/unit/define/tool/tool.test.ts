/** Definitions of tools: defaults, fields, and faults that come all at once. Scenario S7. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError, defineTool } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import { containing, defineUntyped, toolFaults as faultsOf } from './faults.js';

const base = { name: 'notes.search', description: 'Searches notes.', input: z.object({}) };
const run = (): string => 'done';

describe('a tool definition', () => {
  it('gets its defaults', promise('A5', 'X2'), () => {
    const tool = defineTool({ ...base, run });
    expect(tool).toMatchObject({
      executor: 'server',
      usage: 'Searches notes.',
      approval: { needed: false },
      effects: 'idempotent',
      inline: false,
      streaming: false,
      executesFully: true,
      timeouts: { approvalMs: 86_400_000, answerMs: 86_400_000, runMs: 60_000 },
    });
    expect(Object.isFrozen(tool)).toBe(true);
  });

  it('is strict where its input can be, unless it disables that; and may insist on it', () => {
    const input = z.object({ text: z.string() });
    const loose = z.record(z.string(), z.string());
    expect(defineTool({ ...base, input, run })).toHaveProperty('strictInput');
    const off = defineTool({ ...base, input, strict: false, run });
    expect(off).not.toHaveProperty('strictInput');
    // The message needs no explanation.
    expect(defineTool({ ...base, input: loose, strict: false, run })).not.toHaveProperty(
      'notStrict',
    );
    expect(defineTool({ ...base, input, strict: true, run })).toHaveProperty('strictInput');
    expect(faultsOf({ ...base, input: loose, strict: true, run })).toMatchObject({
      strict: expect.any(String) as string,
    });
    expect(faultsOf({ ...base, strict: 'yes', run })).toHaveProperty('strict');
  });

  it('accepts every field that the engine uses', promise('A17', 'X1', 'X42'), () => {
    const tool = defineTool({
      ...base,
      executor: 'server',
      usage: 'Use it first.',
      output: z.string(),
      approval: { ask: { reason: 'It costs money' } },
      mode: 'await',
      effects: 'none',
      taskQueue: 'elsewhere',
      timeouts: { approval: '2 days', run: 1_500 },
      onExpire: 'error',
      lateResult: 'reject',
      streaming: true,
      executesFully: true,
      run,
    });
    expect(tool).toMatchObject({
      usage: 'Use it first.',
      approval: { needed: true, reason: 'It costs money' },
      effects: 'none',
      taskQueue: 'elsewhere',
      timeouts: { approvalMs: 172_800_000, runMs: 1_500 },
      streaming: true,
    });
    const gated = { ...base, inline: true, effects: 'none', approval: 'required', run } as const;
    expect(defineTool(gated)).toMatchObject({
      inline: true,
      approval: { needed: true },
    });
  });

  it.each([undefined, 'idempotent', 'once'])(
    'is inline only where it declares that it has no effects, not with effects %s',
    (effects) => {
      const declared = effects === undefined ? {} : { effects };
      const got = effects ?? 'idempotent';
      expect(faultsOf({ ...base, inline: true, run, ...declared })).toEqual({
        inline: `is for tools that only read: effects must be "none", got "${got}"`,
      });
      expect(faultsOf({ ...base, inline: true, run, effects: 'none' })).toEqual({});
    },
  );

  it('asks people for free text and clients for any JSON when no form is declared', {
    ...promise('A6'),
  }, () => {
    expect(defineTool({ ...base, executor: 'human' })).toMatchObject({
      answer: { schema: { type: 'string' }, recheck: false },
      executesFully: false,
      timeouts: { answerMs: 86_400_000 },
    });
    const client = defineTool({ ...base, executor: 'client' });
    expect(client.answer).toEqual({ recheck: false });
    expect(client.timeouts).toMatchObject({ answerMs: 120_000, claimMs: 15_000 });
  });

  it('lists all of its faults in one error', promise('S7', 'A14', 'A17'), () => {
    const faults = faultsOf({
      name: 'notes..search',
      description: ' ',
      usage: '',
      executor: 'human',
      input: z.object({ when: z.date() }),
      output: z.object({ at: z.bigint() }),
      approval: 'required',
      effects: 'twice',
      mode: 'sometimes',
      timeouts: { answer: '9 years', run: '1s', wait: 1 },
      onExpire: 'never',
      executesFully: true,
      visible: true,
      run,
      colour: 'red',
    });
    expect(faults).toEqual({
      name: containing('words of letters'),
      description: containing('non-empty'),
      usage: containing('non-empty'),
      approval: 'a human tool cannot be gated: the answer already is the decision',
      effects: containing(''),
      'timeouts.answer': containing('at most'),
      'timeouts.run': 'does not apply to human tools',
      'timeouts.wait': containing('unknown field'),
      onExpire: containing('must be "error"'),
      executesFully: 'is false for human tools, declared true',
      mode: containing('await, detach'),
      visible: containing('unknown field'),
      run: 'does not apply to human tools',
      colour: containing('unknown field'),
      'input.when': containing('Date'),
      'output.at': containing('BigInt'),
    });
  });

  it.each([undefined, null, 7, 'tool', []])('refuses %j as a whole', (spec) => {
    expect(() => defineUntyped(spec)).toThrow(DefinitionError);
  });

  it('accepts code written as a method that uses the definition itself', () => {
    const tool = defineTool({
      ...base,
      run() {
        return this.name;
      },
    });
    expect(tool.run?.({}, undefined as never)).toBe('notes.search');
  });

  it('lets outputs of its own code be dates: they become JSON afterwards', () => {
    expect(faultsOf({ ...base, output: z.object({ at: z.date() }), run })).toEqual({});
  });

  it('refuses an input that parses to a value that history cannot hold', () => {
    const input = z.object({ a: z.object({ when: z.string().pipe(z.coerce.date()) }) });
    expect(faultsOf({ ...base, input, run })).toEqual({
      'input.a.when': containing('parses to a date'),
    });
  });
});
