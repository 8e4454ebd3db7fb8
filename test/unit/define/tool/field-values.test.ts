/** Values of a tool's fields that no definition may have, alone or with the others. Scenario S7. */
import { describe, it } from 'vitest';
import { z } from 'zod';
import { jsonSchema } from '../../../../src/index.js';
import { promise } from '../../../support/promise.js';
import { expectFault, type Fault } from './faults.js';

const base = { name: 'notes.search', description: 'Searches notes.', input: z.object({}) };
const run = (): string => 'done';

describe('a field of a tool definition', () => {
  it.each<Fault>([
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
      'an endless time in all',
      { ...base, executor: 'human', timeouts: { total: '2 years' } },
      'timeouts.total',
      /at most 366 days/,
    ],
  ])('refuses %s as a time-out', promise('S7'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
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
  ])('refuses %s, which the rules of inline reads exclude', promise('S7'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
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
  ])('refuses %s, which could never be the result', promise('S7'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
    [
      'a result bound of a tool whose result comes from outside',
      { ...base, executor: 'client', maxResultBytes: 4_096 },
      'maxResultBytes',
      /does not apply to client tools/,
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
      'late results of a server tool',
      { ...base, approval: 'required', lateResult: 'inbox', run },
      'lateResult',
      /waits only for its approval/,
    ],
  ])('refuses %s, which the tool would never use', promise('S7'), (...fault) => {
    expectFault(fault);
  });

  it.each<Fault>([
    [
      'a result bound in which no marker fits',
      { ...base, maxResultBytes: 100, run },
      'maxResultBytes',
      /from 1024 to 204800/,
    ],
    [
      'a task queue without a name',
      { ...base, taskQueue: '', run },
      'taskQueue',
      /name of a task queue/,
    ],
    ['a mode of another engine', { ...base, mode: 'async', run }, 'mode', /await, detach/],
    [
      'a retention by age',
      { ...base, retention: { maxAge: '1 day' }, run },
      'retention',
      /turns: n/,
    ],
    ['a flag that is no flag', { ...base, streaming: 'yes', run }, 'streaming', /true or false/],
  ])('refuses %s, a value that the field does not have', promise('S7'), (...fault) => {
    expectFault(fault);
  });
});
