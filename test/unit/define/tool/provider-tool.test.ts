/** Definitions of tools that the model's provider runs: their fields, and no others. A13, S7. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { promise } from '../../../support/promise.js';
import { toolFaults as faultsOf } from './faults.js';

const base = { name: 'notes.search', description: 'Searches notes.', input: z.object({}) };
const run = (): string => 'done';

describe('the definition', () => {
  const illegal: readonly [title: string, spec: unknown, field: string, rule: RegExp][] = [
    [
      'a provider tool without its configuration',
      { name: 'search', executor: 'provider' },
      'provider',
      /must be the tool as the provider takes it/,
    ],
    [
      'a provider tool of no type',
      { name: 'search', executor: 'provider', provider: { type: ' ' } },
      'provider.type',
      /the provider's name for the tool/,
    ],
    [
      'a provider tool configured with what is no JSON',
      { name: 'search', executor: 'provider', provider: { type: 'x', when: new Date() } },
      'provider',
      /must be JSON/,
    ],
    [
      'a provider tool configured at length',
      { name: 'search', executor: 'provider', provider: { type: 'x', text: 'y'.repeat(70_000) } },
      'provider',
      /at most 65536 bytes/,
    ],
    [
      'a configuration of a provider for another executor',
      { ...base, provider: { type: 'web_search' }, run },
      'provider',
      /does not apply to server tools/,
    ],
  ];
  it.each(illegal)('refuses %s', (_title, spec, field, rule) => {
    expect(faultsOf(spec)[field]).toMatch(rule);
  });

  it('of a provider tool refuses every field that another executor would need, at once', {
    ...promise('A13'),
  }, () => {
    const spec = {
      name: 'search',
      executor: 'provider',
      provider: { type: 'web_search' },
      input: z.object({}),
      output: z.string(),
      approval: 'required',
      mode: 'detach',
      effects: 'once',
      maxAttempts: 1,
      inline: true,
      taskQueue: 'q',
      timeouts: { run: '1s' },
      onExpire: 'error',
      warnBefore: '1s',
      lateResult: 'inbox',
      audience: { roles: ['clerk'] },
      streaming: true,
      preflight: run,
      run,
      reconcile: run,
      onOutcomeUnknown: 'hold',
      executesFully: false,
    };
    const faults = faultsOf(spec);
    const { name: _n, executor: _e, provider: _p, timeouts: _t, ...illegal } = spec;
    expect(Object.keys(faults).sort()).toEqual(
      [...Object.keys(illegal), 'timeouts', 'timeouts.run'].sort(),
    );
    expect(faults['approval']).toMatch(/inside the model call/);
    expect(faults['executesFully']).toMatch(/is true for provider tools/);
    expect(faults['run']).toMatch(/does not apply to provider tools/);
  });

  it('of a provider tool needs its configuration and no more', () => {
    expect(faultsOf({ name: 'search', executor: 'provider', provider: { type: 'x' } })).toEqual({});
  });
});
