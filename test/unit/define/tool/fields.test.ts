/**
 * The fields that each executor may have, as a table of its own: a definition with every field is refused with each
 * that is not its executor's, in one report. S7, X45.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { promise } from '../../../support/promise.js';
import { toolFaults as faultsOf } from './faults.js';

const run = (): string => 'done';

/** Every field of `defineTool` but those that all executors have, with a value that is legal somewhere. */
const VALUES: Readonly<Record<string, unknown>> = {
  input: z.object({}),
  strict: false,
  output: z.object({}),
  approval: 'required',
  mode: 'await',
  effects: 'once',
  maxAttempts: 1,
  inline: false,
  maxResultBytes: 4_096,
  taskQueue: 'elsewhere',
  timeouts: { total: '1h' },
  onExpire: 'error',
  warnBefore: '1 minute',
  lateResult: 'reject',
  audience: { roles: ['clerk'] },
  streaming: false,
  preflight: run,
  run,
  reconcile: run,
  onOutcomeUnknown: 'hold',
  provenance: 'untrusted',
  provider: { type: 'web_search' },
};

const OUTSIDE = [
  ...[
    'input',
    'strict',
    'output',
    'mode',
    'timeouts',
    'onExpire',
    'warnBefore',
    'lateResult',
    'audience',
  ],
];
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  server: Object.keys(VALUES).filter((field) => field !== 'preflight' && field !== 'provider'),
  human: OUTSIDE,
  client: [...OUTSIDE, 'approval', 'preflight', 'streaming'],
  external: [...OUTSIDE, 'approval', 'streaming'],
  provider: ['provider'],
  internal: ['input', 'strict', 'approval', 'timeouts', 'onExpire'],
};
/** Whether the server alone finishes a call. */
const FULLY: Readonly<Record<string, boolean>> = {
  server: true,
  human: false,
  client: false,
  external: false,
  provider: true,
  internal: true,
};

function specOf(executor: string, fields: readonly string[]): Record<string, unknown> {
  const given = Object.fromEntries(fields.map((field) => [field, VALUES[field]]));
  return { name: 'notes.search', description: 'Searches notes.', executor, ...given };
}

describe.each(Object.keys(LEGAL))('a definition with executor %s', (executor) => {
  const legal = LEGAL[executor]!;

  it('accepts every field that is its own', () => {
    expect(faultsOf(specOf(executor, legal))).toEqual({});
  });

  it('refuses every field that is not, in one report', promise('S7'), () => {
    const illegal = Object.keys(VALUES).filter((field) => !legal.includes(field));
    const faults = faultsOf({ ...specOf(executor, Object.keys(VALUES)), usage: ' ', name: 'a b' });
    const clocks = executor === 'provider' ? ['timeouts.total'] : [];
    expect(Object.keys(faults).sort()).toEqual([...illegal, ...clocks, 'name', 'usage'].sort());
    for (const field of illegal)
      expect(faults[field]).toMatch(
        field === 'approval' ? /cannot be gated/ : /does not apply to \w+ tools/,
      );
  });

  it('may declare its executor, and no other', promise('X45'), () => {
    const base = specOf(executor, legal);
    expect(faultsOf({ ...base, executesFully: FULLY[executor] })).toEqual({});
    expect(faultsOf({ ...base, executesFully: FULLY[executor] !== true })).toEqual({
      executesFully: `is ${String(FULLY[executor])} for ${executor} tools, declared ${String(FULLY[executor] !== true)}`,
    });
  });
});
