/** The patches that a worker is sent with a model call, by what it may know of the states. */
import { describe, expect, it } from 'vitest';
import {
  atModelCall,
  judgePatch,
  statesAfter,
  statesNow,
  statesRef,
} from '../../../../src/core/plugins/states.js';
import type { PluginMemory } from '../../../../src/core/state/plugins.js';
import type { StatePatch } from '../../../../src/protocol/calls/plugin-state.js';
import { MAX_RECENT_PATCH_BYTES } from '../../../../src/protocol/limits/limits.js';
import type { Json } from '../../../../src/protocol/values/json.js';

const patch = (value: Json): StatePatch => ({
  ...{ plugin: 'p', version: 1, changes: [{ op: 'set', path: '/v', value }] },
});

function patched(before: PluginMemory | undefined, ...values: readonly Json[]): PluginMemory {
  let memory = before;
  for (const value of values) {
    const judged = judgePatch(memory, patch(value));
    if ('memory' in judged) ({ memory } = judged);
  }
  return memory as PluginMemory;
}

const called = (memory: PluginMemory): PluginMemory => atModelCall(memory).plugins as PluginMemory;
const valuesOf = (patches: readonly StatePatch[] | undefined) =>
  patches?.map(({ changes: [change] }) => (change?.op === 'set' ? change.value : undefined));
const sent = (plugins: PluginMemory, since: 'called' | 'calledBefore') => {
  const { states } = statesRef({ plugins }, since);
  return { ...states, recent: valuesOf(states?.recent) };
};

describe('a worker', () => {
  it('gets nothing before the first patch', () => {
    expect(statesRef({}, 'called')).toEqual({});
    expect(atModelCall(undefined)).toEqual({});
    expect(statesNow({ lastSeq: 7 })).toEqual({ hash: '', states: {}, seq: 7 });
  });

  it('that has seen no state gets all patches, from the beginning', () => {
    const memory = patched(undefined, 1, 2);
    const all = { hash: memory.hash, base: '', recent: [1, 2] };
    expect(sent(memory, 'called')).toEqual(all);
    expect(sent(memory, 'calledBefore')).toEqual(all);
  });

  it('gets the patches since the last model call, or since the one before it', () => {
    const first = called(patched(undefined, 1, 2));
    const second = called(patched(first, 3));
    const memory = patched(second, 4, 5);
    expect(second.called).toBe(second.hash);
    expect(second.calledBefore).toBe(first.hash);
    const { hash } = memory;
    expect(sent(memory, 'called')).toEqual({ hash, base: second.hash, recent: [4, 5] });
    expect(sent(memory, 'calledBefore')).toEqual({ hash, base: first.hash, recent: [3, 4, 5] });
  });

  it('gets none where no patch came since', () => {
    const memory = called(patched(undefined, 1));
    const { hash } = memory;
    expect(sent(memory, 'called')).toEqual({ hash, base: hash, recent: [] });
    const again = called(memory);
    expect(again.recent).toEqual([]);
    expect(sent(again, 'calledBefore')).toEqual({ hash, base: hash, recent: [] });
  });

  it('gets the newest patches alone where those before are too large to keep, and sees that some lack', () => {
    const text = 'x'.repeat(MAX_RECENT_PATCH_BYTES / 3);
    const first = called(patched(undefined, 1));
    const memory = patched(first, `${text}a`, `${text}b`, `${text}c`);
    const found = sent(memory, 'called');
    expect(found.recent).toEqual([`${text}b`, `${text}c`]);
    expect(found.base).not.toBe(first.hash);
    expect(found.base).toBe(patched(first, `${text}a`).hash);
    const large = patched(memory, 'y'.repeat(MAX_RECENT_PATCH_BYTES));
    expect(sent(large, 'called')).toEqual({ hash: large.hash, base: large.hash, recent: [] });
  });

  it('keeps patches of exactly the most bytes', () => {
    const bytesOf = (value: string): number => JSON.stringify(patch(value)).length;
    const most = 'x'.repeat(MAX_RECENT_PATCH_BYTES - bytesOf(''));
    expect(bytesOf(most)).toBe(MAX_RECENT_PATCH_BYTES);
    expect(patched(undefined, most).recent).toHaveLength(1);
    expect(patched(undefined, `${most}x`).recent).toHaveLength(0);
  });

  it('makes the states from those that it knows and the patches', () => {
    const before = patched(undefined, 1);
    const memory = patched(before, 2, 3);
    const recent = memory.recent.slice(1).map((entry) => entry.patch);
    expect(statesAfter(before.states, recent)).toEqual(memory.states);
    const unfit: StatePatch = { ...patch(1), changes: [{ op: 'append', path: '/v', values: [] }] };
    expect(statesAfter(memory.states, [unfit])).toBeUndefined();
    expect(statesNow({ plugins: memory, lastSeq: 9 })).toEqual({
      ...{ hash: memory.hash, states: memory.states, seq: 9 },
    });
  });
});
