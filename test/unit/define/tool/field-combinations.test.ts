/** The legal matrix of tools, as callers without a compiler meet it. Scenario S7. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonSchema } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import { containing, toolFaults as faultsOf } from './faults.js';

const base = { name: 'notes.search', description: 'Searches notes.', input: z.object({}) };
const run = (): string => 'done';

describe('a tool definition', () => {
  const illegal: readonly [title: string, spec: unknown, field: string, rule: RegExp][] = [
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
      'a gated provider tool',
      { ...base, executor: 'provider', approval: 'required' },
      'approval',
      /inside the model call/,
    ],
    [
      'a human tool with a policy',
      { ...base, executor: 'human', approval: () => 'allow' },
      'approval',
      /cannot be gated/,
    ],
    ['a gate that is no gate', { ...base, approval: true, run }, 'approval', /or a function/],
    ['a server tool without code', base, 'run', /must have a run function/],
    [
      'a server tool with something that is no code',
      { ...base, run: 'echo' },
      'run',
      /must have a run function/,
    ],
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
    ['an empty usage text', { ...base, usage: '  ', run }, 'usage', /non-empty/],
    ['an empty description', { ...base, description: '', run }, 'description', /non-empty/],
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
    ['a bad duration', { ...base, timeouts: { run: 'soon' }, run }, 'timeouts.run', /got "soon"/],
    [
      'a duration without a unit',
      { ...base, timeouts: { run: '30' }, run },
      'timeouts.run',
      /got "30"/,
    ],
    [
      'a negative duration',
      { ...base, timeouts: { run: -1 }, run },
      'timeouts.run',
      /at least 1 ms/,
    ],
    [
      'an endless run',
      { ...base, timeouts: { run: Infinity }, run },
      'timeouts.run',
      /must be milliseconds/,
    ],
    [
      'a run of more than a day',
      { ...base, timeouts: { run: '25h' }, run },
      'timeouts.run',
      /at most 1 day/,
    ],
    [
      'an approval of more than a year',
      { ...base, timeouts: { approval: '2 years' }, run },
      'timeouts.approval',
      /at most 366 days/,
    ],
    ['timeouts that are a number', { ...base, timeouts: 5, run }, 'timeouts', /must be an object/],
    [
      'an approval with a default',
      { ...base, approval: 'required', onExpire: { default: 1 }, run },
      'onExpire',
      /silence is not consent/,
    ],
    [
      'an approval that is a mere true',
      { ...base, approval: true, run },
      'approval',
      /must be "auto", "required"/,
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
    [
      'a declared executesFully that is not so',
      { ...base, executor: 'client', executesFully: true },
      'executesFully',
      /is false for client/,
    ],
    [
      'an inline tool with a single attempt',
      { ...base, inline: true, effects: 'none', maxAttempts: 1, run },
      'inline',
      /maxAttempts is at least 2/,
    ],
    [
      'an inline tool that is detached',
      { ...base, inline: true, effects: 'none', mode: 'detach', run },
      'inline',
      /does not wait/,
    ],
    [
      'an inline tool on another task queue',
      { ...base, inline: true, effects: 'none', taskQueue: 'q', run },
      'inline',
      /task queue/,
    ],
    [
      'a result bound in which no marker fits',
      { ...base, maxResultBytes: 100, run },
      'maxResultBytes',
      /from 1024 to 204800/,
    ],
    [
      'a result bound of a tool whose result comes from outside',
      { ...base, executor: 'client', maxResultBytes: 4_096 },
      'maxResultBytes',
      /does not apply to client tools/,
    ],
    [
      'a task queue without a name',
      { ...base, taskQueue: '', run },
      'taskQueue',
      /name of a task queue/,
    ],
    [
      'a default answer that breaks its form',
      {
        ...base,
        executor: 'human',
        output: z.object({ size: z.int() }),
        onExpire: { default: { size: 'L' } },
      },
      'onExpire.default.size',
      /breaks the output schema/,
    ],
    [
      'a default answer that breaks a raw schema',
      {
        ...base,
        executor: 'external',
        output: jsonSchema({ type: 'object', required: ['a'] }),
        onExpire: { default: { b: 1 } },
      },
      'onExpire.default',
      /breaks the output schema/,
    ],
    [
      'a default answer that is no JSON',
      { ...base, executor: 'client', onExpire: { default: 1n } },
      'onExpire.default',
      /must be JSON/,
    ],
    [
      'a default answer that cannot be judged at once',
      {
        ...base,
        executor: 'human',
        output: z.string().refine(async () => Promise.resolve(true)),
        onExpire: { default: 'x' },
      },
      'onExpire.default',
      /cannot be checked/,
    ],
    [
      'a warning longer than the wait',
      { ...base, executor: 'human', timeouts: { answer: '1h' }, warnBefore: '2h' },
      'warnBefore',
      /shorter than the longest wait/,
    ],
    [
      'a warning for a tool that never waits',
      { ...base, warnBefore: '1h', run },
      'warnBefore',
      /never waits/,
    ],
    [
      'an endless time in all',
      { ...base, executor: 'human', timeouts: { total: '2 years' } },
      'timeouts.total',
      /at most 366 days/,
    ],
    [
      'late results of a server tool',
      { ...base, approval: 'required', lateResult: 'inbox', run },
      'lateResult',
      /waits only for its approval/,
    ],
    ['a mode of another engine', { ...base, mode: 'async', run }, 'mode', /await, detach/],
    [
      'a retention by age',
      { ...base, retention: { maxAge: '1 day' }, run },
      'retention',
      /turns: n/,
    ],
    ['a flag that is no flag', { ...base, streaming: 'yes', run }, 'streaming', /true or false/],
  ];
  it.each(illegal)(
    'refuses %s',
    promise(
      'S7',
      'A10',
      'A12',
      'A14',
      'A18',
      'H6',
      'C4',
      'C7',
      'X2',
      'X10',
      'X16',
      'X19',
      'X22',
      'X44',
    ),
    (_title, spec, field, rule) => {
      const faults = faultsOf(spec);
      expect(faults[field]).toMatch(rule);
    },
  );

  const later: readonly [title: string, spec: unknown, field: string][] = [
    ['visible calls', { ...base, visible: true, run }, 'visible'],
  ];
  it.each(later)('names %s as not yet supported', (_title, spec, field) => {
    expect(faultsOf(spec)).toEqual({ [field]: containing('not yet supported') });
  });
});
