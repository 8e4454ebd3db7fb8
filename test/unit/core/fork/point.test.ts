/** The place of a fork in a log, the nearest ones where there is none, and the calls that are left behind. */
import { describe, expect, it } from 'vitest';
import { cutAt, forkPointOf, reopenProblems } from '../../../../src/core/fork/point.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import {
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { cutsOf } from '../../../support/forks/core-forks.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

/** Two turns: the first ends with seq 6, the second has two calls, which wait from seq 14 on. */
function twoTurns(): MachineUnderTest {
  const m = aMachine();
  m.send('one');
  m.model(modelSays('done'));
  m.send('two');
  m.model(modelCalls([gatedCall('g'), plannedCall('q', { executor: 'human' })]));
  return m;
}

/** The events, one after the other, and how many were read. */
function read(events: readonly CanonicalEvent[]) {
  const counted = { read: 0 };
  const log = (async function* () {
    for (const event of events) {
      counted.read += 1;
      yield await Promise.resolve(event);
    }
  })();
  return { log, counted };
}

describe('the place of a fork', () => {
  it('has the state at its seq, and reads no further', async () => {
    const { events } = twoTurns();
    expect(cutsOf(events)).toEqual([6, 14]);
    const { log, counted } = read(events);
    const found = await cutAt(log, 6);
    expect(found).toMatchObject({ state: { lastSeq: 6 } });
    expect(counted.read).toBe(6);
  });

  it.each([
    [3, { after: 6, lastSeq: 6 }],
    [8, { before: 6, after: 14, lastSeq: 14 }],
    [15, { before: 14, lastSeq: 14 }],
  ])('that is none, %i, has the nearest on both sides', async (seq, found) => {
    expect(await cutAt(read(twoTurns().events).log, seq)).toEqual(found);
  });

  it('is found behind the mark of a log that was written anew, which is no event of the conversation', async () => {
    const { events } = twoTurns();
    const mark = { type: 'log_rewritten', generation: 2, seq: 1, at: '' } as never;
    expect(await cutAt(read([mark, ...events]).log, 6)).toMatchObject({ state: { lastSeq: 6 } });
    expect(await cutAt(read([mark]).log, 6)).toEqual({ lastSeq: 0 });
  });

  it('has the agent, and the calls that stay with the origin, those of the step first', async () => {
    const m = aMachine();
    m.send('one');
    m.model(modelCalls([gatedCall('d', { mode: 'detach' })]));
    m.model(modelCalls([gatedCall('g'), plannedCall('q', { executor: 'human' })]));
    const { lastSeq, agent } = m.state;
    const at = async (reopen: readonly string[]) =>
      await forkPointOf(read(m.events).log, { generation: 1, atSeq: lastSeq, reopen });
    expect(await at([])).toEqual({ agent, notCarried: ['g', 'q', 'd'] });
    expect(await at(['q', 'd'])).toEqual({ agent, notCarried: ['g'] });
    expect(await at(['g', 'x'])).toEqual({
      problems: [{ path: '/reopen/1', message: '"x" is no call of the conversation at this seq' }],
    });
  });

  it.each([
    [3, 'nearest: 6 behind it; the log ends at 6'],
    [8, 'nearest: 6 before it, 14 behind it; the log ends at 14'],
    [15, 'nearest: 14 before it; the log ends at 14'],
  ])('that is none, %i, is refused with the nearest', async (atSeq, where) => {
    const { log } = read(twoTurns().events);
    expect(await forkPointOf(log, { generation: 1, atSeq, reopen: [] })).toEqual({
      problems: [
        {
          path: '/atSeq',
          message: `must be the seq of an event that ends a step or a turn (${where})`,
        },
      ],
    });
  });

  it('does not exist yet in a log without an answer of the model, and in an empty one', async () => {
    const { events } = twoTurns();
    const of = async (some: readonly CanonicalEvent[]) =>
      await forkPointOf(read(some).log, { generation: 1, atSeq: 2, reopen: [] });
    expect(JSON.stringify(await of(events.slice(0, 3)))).toContain(
      '(there is none yet; the log ends at 3)',
    );
    expect(await of([])).toBeUndefined();
  });
});

it('each call that cannot wait anew is a problem at its place in the list', () => {
  const { state } = twoTurns();
  expect(reopenProblems(state, ['g', 'a', 'q', 'b']).map(({ path }) => path)).toEqual([
    '/reopen/1',
    '/reopen/3',
  ]);
});
