/** An API process is killed by SIGKILL while it streams; its clients resume at another process. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import type { Frame } from '../support/api.js';
import { startWorld, type World } from '../support/world.js';

const STEPS = 8;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  // A turn of many steps, each with some events and some streamed text.
  world.model.answer('look often', ({ results }) =>
    results.length < STEPS
      ? {
          text: `look number ${results.length + 1} of many`,
          calls: [{ name: 'weather.lookup', input: { city: 'Berlin' } }],
          chunkDelayMs: 40,
        }
      : { text: 'I have seen enough' },
  );
});
afterAll(() => world.stop());

describe('an API process that is killed in the middle of an event stream', () => {
  it('costs a client nothing: with Last-Event-ID a new process continues without a gap or a repeat', {
    ...promise('G24'),
  }, async () => {
    const talk = world.talk('stream');
    await talk.begin('support', 'look often');
    const before = await talk.stream();
    await until('some steps are streamed', () => idsOf(before.frames), {
      holds: (ids) => ids.length > 12,
      timeoutMs: 60_000,
    });
    await world.stack.api.kill();
    await before.ended;
    const received = idsOf(before.frames);

    const api = await world.startApi(Number(new URL(world.apiUrl).port));
    expect(api.url).toBe(world.apiUrl);
    const after = await talk.stream(received.at(-1));
    await until('the end is streamed', () => after.frames.map(({ event }) => event), {
      holds: (events) => events.includes('turn_ended'),
      timeoutMs: 60_000,
    });
    after.close();

    const ids = [...received, ...idsOf(after.frames)];
    expect(ids).toEqual(ids.map((_, index) => `1-${index + 1}`));
    const seen = [...before.frames, ...after.frames].filter(({ id }) => id !== undefined);
    expect(seen.map(({ data }) => data)).toEqual(await talk.events());
    // Proof that the kill came in the middle of the stream.
    expect(after.frames.some(({ event }) => event === 'tool_result')).toBe(true);
    expect((await talk.ended()).text).toBe('I have seen enough');
  });
});

function idsOf(frames: readonly Frame[]): readonly string[] {
  return frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
}
