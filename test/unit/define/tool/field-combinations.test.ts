/** The legal matrix of tools, as callers without a compiler meet it. Scenario S7. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonSchema } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import { defineUntyped, expectFault, type Fault, toolFaults as faultsOf } from './faults.js';

const base = { name: 'notes.search', description: 'Searches notes.', input: z.object({}) };
const run = (): string => 'done';

describe('a tool definition', () => {
  it.each<Fault>([
    [
      'a gated human tool',
      { ...base, executor: 'human', approval: 'required' },
      'approval',
      /cannot be gated/,
    ],
    [
      'a human tool gated with a reason',
      { ...base, executor: 'human', approval: { ask: {} } },
      'approval',
      /cannot be gated/,
    ],
    [
      'a human tool with a policy',
      { ...base, executor: 'human', approval: () => 'allow' },
      'approval',
      /cannot be gated/,
    ],
  ])('refuses %s: the answer is the decision', promise('S7', 'A12', 'A14'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
    [
      'a gated provider tool',
      { ...base, executor: 'provider', approval: 'required' },
      'approval',
      /inside the model call/,
    ],
  ])('refuses %s: no call can be held inside the model call', promise('S7', 'A12'), (...fault) => {
    expectFault(fault);
  });

  it.each(['server', 'client', 'external', 'internal'])(
    'accepts a gate on a tool with the executor %s',
    promise('A10', 'A12'),
    (executor) => {
      const code = executor === 'server' ? { run } : {};
      expect(faultsOf({ ...base, executor, approval: 'required', ...code })).toEqual({});
    },
  );

  it.each<Fault>([
    [
      'a gate that is no gate',
      { ...base, approval: true, run },
      'approval',
      /must be "auto", "required".*or a function/,
    ],
    [
      'an approval with an empty reason',
      { ...base, approval: { ask: { reason: '' } }, run },
      'approval.ask.reason',
      /1 to 2000/,
    ],
    [
      'an approval with unknown fields',
      { ...base, approval: { ask: {}, who: 'me' }, run },
      'approval.who',
      /unknown field/,
    ],
  ])(
    'refuses %s: a tool has no gate, a required one, a request, or a function',
    promise('S7', 'A10', 'C7'),
    (...fault) => {
      expectFault(fault);
    },
  );

  it.each<Fault>([
    [
      'an approval with a default',
      { ...base, approval: 'required', onExpire: { default: 1 }, run },
      'onExpire',
      /silence is not consent/,
    ],
  ])('refuses %s: silence is not consent', promise('S7'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
    ['a server tool without code', base, 'run', /must have a run function/],
    [
      'a server tool with something that is no code',
      { ...base, run: 'echo' },
      'run',
      /must have a run function/,
    ],
  ])('refuses %s: the server has nothing to run', promise('S7', 'A18'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
    [
      'a client tool with code',
      { ...base, executor: 'client', run },
      'run',
      /does not apply to client/,
    ],
    [
      'an internal tool with code',
      { ...base, executor: 'internal', run },
      'run',
      /does not apply to internal/,
    ],
    [
      'an internal tool with an output',
      { ...base, executor: 'internal', output: z.string() },
      'output',
      /does not apply/,
    ],
  ])('refuses %s, which the executor does not run or check', promise('S7', 'X22'), (...fault) => {
    expectFault(fault);
  });

  const executors = [
    ['server', true],
    ['internal', true],
    ['human', false],
    ['client', false],
    ['external', false],
  ] as const;
  it.each(executors)(
    'derives from the executor %s whether the server executes the tool fully: %s',
    promise('X2', 'X10', 'X19'),
    (executor, executesFully) => {
      const code = executor === 'server' ? { run } : {};
      const spec = { ...base, executor, ...code };
      expect(defineUntyped(spec)).toMatchObject({ executor, executesFully });
      expect(faultsOf({ ...spec, executesFully })).toEqual({});
    },
  );

  it.each(executors)(
    'refuses a tool with the executor %s that declares the opposite of executesFully: %s',
    promise('S7', 'X2', 'X19', 'X22'),
    (executor, executesFully) => {
      const code = executor === 'server' ? { run } : {};
      const faults = faultsOf({ ...base, executor, ...code, executesFully: !executesFully });
      const rule = `is ${executesFully} for ${executor} tools, declared ${!executesFully}`;
      expect(faults).toEqual({ executesFully: rule });
    },
  );

  it.each<Fault>([
    ['an unknown executor', { ...base, executor: 'robot', run }, 'executor', /"robot" is unknown/],
    [
      'a name that no provider takes',
      { ...base, name: 'search notes', run },
      'name',
      /words of letters/,
    ],
    [
      'a name that is too long on the wire',
      { ...base, name: 'a.'.repeat(25) + 'a', run },
      'name',
      /on the wire/,
    ],
    ['a missing name', { ...base, name: undefined, run }, 'name', /non-empty/],
  ])('refuses %s: the model finds a tool by its name', promise('S7'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
    ['an empty description', { ...base, description: '', run }, 'description', /non-empty/],
    ['a blank description', { ...base, description: ' ', run }, 'description', /non-empty/],
    ['no description', { ...base, description: undefined, run }, 'description', /non-empty/],
  ])('refuses %s: the model reads it with the tool', promise('S7', 'H6', 'C4'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
    ['a blank usage text', { ...base, usage: '  ', run }, 'usage', /non-empty/],
    ['an empty usage text', { ...base, usage: '', run }, 'usage', /non-empty/],
    ['a usage that is no text', { ...base, usage: 5, run }, 'usage', /non-empty/],
  ])(
    'refuses %s: the usage text is part of the prompt',
    promise('S7', 'X16', 'X44'),
    (...fault) => {
      expectFault(fault);
    },
  );

  it.each<Fault>([
    ['no input', { ...base, input: undefined, run }, 'input', /is missing/],
    [
      'an input that is no schema',
      { ...base, input: { a: 'string' }, run },
      'input',
      /must be a zod type/,
    ],
    ['an input of zod 3', { ...base, input: { _def: {} }, run }, 'input', /zod 3/],
    [
      'an input that is no object',
      { ...base, input: z.string(), run },
      'input',
      /object at the top/,
    ],
    [
      'an input that is a choice',
      { ...base, input: z.union([z.object({}), z.object({})]), run },
      'input',
      /object at the top/,
    ],
    [
      'a raw input that is no object',
      { ...base, input: jsonSchema({ type: 'array' }), run },
      'input',
      /object at the top/,
    ],
    [
      'a raw schema that leads nowhere',
      {
        ...base,
        input: jsonSchema({ type: 'object', properties: { a: { $ref: '#/$defs/b' } } }),
        run,
      },
      'input./properties/a',
      /must point into this schema/,
    ],
  ])(
    'refuses %s: the arguments of a call are validated by a schema of objects',
    promise('S7', 'X10'),
    (...fault) => {
      expectFault(fault);
    },
  );
});
