/** The work in progress, as another thread reads it while the main thread is blocked. */
import { describe, expect, it } from 'vitest';
import { noteOf } from '../../../src/activities/shared/noted.js';
import { Register } from '../../../src/watchdog/register.js';
import { promise } from '../../support/promise.js';

describe('the register of the work in progress', () => {
  it('is read from the same memory, the newest first, without what has ended', {
    ...promise('G273'),
  }, () => {
    const register = new Register();
    const reader = new Register(register.memory);
    const leaves = ['one', 'zwei é', 'three'].map((text) => register.enter(text));
    expect(reader.underWay()).toEqual(['three', 'zwei é', 'one']);
    leaves[1]?.();
    leaves[1]?.();
    expect(reader.underWay()).toEqual(['three', 'one']);
    register.enter('four');
    leaves[1]?.();
    expect(reader.underWay()).toEqual(['four', 'three', 'one']);
  });

  it('shows 64 at a time, cut to 240 bytes, and nothing beyond fails', () => {
    const register = new Register();
    const leaves = Array.from({ length: 100 }, (_, index) =>
      register.enter(`${index} ${'x'.repeat(500)}`),
    );
    expect(register.underWay()).toHaveLength(64);
    expect(register.underWay()[0]).toHaveLength(240);
    for (const leave of leaves) leave();
    expect(register.underWay()).toEqual([]);
  });

  it('counts blocks for metrics', () => {
    const register = new Register();
    register.count(2_000);
    register.count(500);
    const { counts } = new Register(register.memory);
    expect(counts).toEqual({ blocks: 2, blockedMs: 2_500, longestMs: 2_000 });
  });
});

describe('the note of an activity', () => {
  it.each([
    [
      'runTool',
      {
        tenant: 'default',
        conversationId: 'c-1',
        call: { name: 'pay', toolCallId: 'k', input: 'secret' },
      },
      'activity runTool pay of default/c-1, call k',
    ],
    ['callModel', { tenant: 't', conversationId: 'c', agent: 'a' }, 'activity callModel of t/c'],
    ['flushLog', undefined, 'activity flushLog'],
  ])('%s has names and ids, and no text of the conversation', (name, input, note) => {
    expect(noteOf(name, input)).toBe(note);
  });
});
