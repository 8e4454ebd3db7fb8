/** States of plugins in the workflow: which patches take effect, and which are refused with a reason. */
import { describe, expect, it } from 'vitest';
import { judgePatch, patchEvents } from '../../../../src/core/plugins/states.js';
import type { PluginMemory } from '../../../../src/core/state/plugins.js';
import type { StateChange, StatePatch } from '../../../../src/protocol/calls/plugin-state.js';
import { MAX_PLUGIN_STATES_BYTES } from '../../../../src/protocol/limits/limits.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { toolFinished } from '../../../support/builders/call-ends.js';
import { modelCalls, plannedCall } from '../../../support/builders/core-builders.js';
import { aMachineWith } from '../../../support/schedules/core-driver.js';

const set = (path: string, value: Json): StateChange => ({ op: 'set', path, value });
const patch = (changes: readonly StateChange[], version = 1, plugin = 'p'): StatePatch => ({
  ...{ plugin, version, changes },
});

function after(...patches: readonly StatePatch[]): PluginMemory | undefined {
  let memory: PluginMemory | undefined;
  for (const each of patches) {
    const judged = judgePatch(memory, each);
    if ('memory' in judged) ({ memory } = judged);
  }
  return memory;
}

function refusalOf(before: PluginMemory | undefined, next: StatePatch): string | undefined {
  const judged = judgePatch(before, next);
  return 'refused' in judged ? judged.refused.code : undefined;
}

describe('a patch of a plugin state', () => {
  it('of another version takes effect only when that is newer, and begins with a whole state', () => {
    const known = after(patch([set('', { a: 1 })], 2));
    expect(refusalOf(known, patch([set('', { a: 2 })], 1))).toBe('version');
    expect(refusalOf(known, patch([set('/a', 2)], 3))).toBe('version');
    expect(refusalOf(known, patch([set('', { b: 2 }), set('/c', 1)], 3))).toBeUndefined();
    expect(refusalOf(known, patch([set('/a', 2)], 2))).toBeUndefined();
  });

  it('is refused once the states of all plugins together would be too large', () => {
    const half = 'x'.repeat(MAX_PLUGIN_STATES_BYTES / 2);
    const known = after(patch([set('/a', half)], 1, 'one'));
    expect(refusalOf(known, patch([set('/a', half)], 1, 'two'))).toBe('too_large');
    expect(refusalOf(known, patch([set('/a', 'short')], 1, 'two'))).toBeUndefined();
  });

  it('is measured anew when earlier ones have made the states small again', () => {
    const half = 'x'.repeat(MAX_PLUGIN_STATES_BYTES / 2);
    const known = after(patch([set('/a', half)]), patch([set('/a', 1)]), patch([set('/b', half)]));
    expect(known?.states['p']?.value).toEqual({ a: 1, b: half });
  });

  it('that is refused stands in the log without its changes', () => {
    const huge = patch([set('/a', 'x'.repeat(MAX_PLUGIN_STATES_BYTES))]);
    expect(patchEvents(undefined, [{ ...huge, turnId: 't' }])).toEqual([
      {
        ...{ type: 'state_patch', plugin: 'p', version: 1, turnId: 't', changes: [] },
        refused: {
          code: 'too_large',
          message: expect.stringContaining('more than 262144') as string,
        },
      },
    ]);
  });
});

describe('the patches of a step', () => {
  const half = patch([set('/a', 'x'.repeat(150_000))]);
  const ended = { envelope: { ok: true, result: null }, executionMs: 1 } as const;

  it('are refused where together they would exceed what a roll-over carries, and the results stay', () => {
    const m = aMachineWith(
      modelCalls([plannedCall('one'), plannedCall('two'), plannedCall('three')]),
    );
    toolFinished(m.machine, 'one', { ...ended, patches: [half] });
    toolFinished(m.machine, 'two', { ...ended, patches: [{ ...half, plugin: 'q' }] });
    expect(m.events.slice(-2)).toMatchObject([
      { type: 'state_patch', plugin: 'q', toolCallId: 'two', refused: { code: 'too_large' } },
      { type: 'tool_result', toolCallId: 'two', result: { status: 'resolved' } },
    ]);
    toolFinished(m.machine, 'three', ended);
    expect(Object.keys(m.state.plugins?.states ?? {})).toEqual(['p']);
    expect(m.state.duePatches).toBeUndefined();
  });

  it('of a wrong form make the result one of a worker at fault', () => {
    const m = aMachineWith(modelCalls([plannedCall('one')]));
    toolFinished(m.machine, 'one', { ...ended, patches: [{ plugin: 1 }] as never });
    expect(m.events.find(({ type }) => type === 'tool_result')).toMatchObject({
      result: {
        envelope: { error: { message: expect.stringContaining('invalid result') as string } },
      },
    });
  });

  it('take effect after the conversation was closed and opened again', () => {
    const m = aMachineWith(modelCalls([plannedCall('one'), plannedCall('two')]));
    toolFinished(m.machine, 'one', { ...ended, patches: [patch([set('/a', 1)])] });
    m.machine.close('idle');
    expect(m.state.duePatches).toHaveLength(1);
  });
});
