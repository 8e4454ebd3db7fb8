import { describe, expect, it } from 'vitest';
import { ShownSlices } from '../../../../src/projection/reading/shown-slices.js';
import type { TranscriptSlice } from '../../../../src/protocol/workflow/transcript-delta.js';

const RUN = { workflowId: 'conversation:default:c1', runId: 'run-a' };

function slice(from: number, text: string): TranscriptSlice {
  const messages = [{ id: `m${from}`, role: 'user', parts: [{ type: 'text', text }] }] as never;
  return { epoch: 2, from, messages };
}

describe('slices that replayed runs have shown', () => {
  it('are taken once, each at its place', () => {
    const slices = new ShownSlices();
    slices.show(RUN, [slice(0, 'one'), slice(1, 'two')]);
    expect(slices.take(RUN, { epoch: 2, from: 1, to: 2 })).toEqual(slice(1, 'two'));
    expect(slices.take(RUN, { epoch: 2, from: 1, to: 2 })).toBeUndefined();
    expect(slices.take(RUN, { epoch: 2, from: 0, to: 2 })).toEqual(slice(0, 'one'));
  });

  it.each([
    ['another run', { ...RUN, runId: 'run-b' }, { epoch: 2, from: 0, to: 1 }],
    ['another epoch', RUN, { epoch: 3, from: 0, to: 1 }],
    ['another place', RUN, { epoch: 2, from: 1, to: 2 }],
  ])('are none for %s', (_what, run, query) => {
    const slices = new ShownSlices();
    slices.show(RUN, [slice(0, 'one')]);
    expect(slices.take(run, query)).toBeUndefined();
  });

  it('are cut to what is asked for', () => {
    const slices = new ShownSlices();
    const two = [...slice(0, 'one').messages, ...slice(1, 'two').messages];
    slices.show(RUN, [{ epoch: 2, from: 0, messages: two }]);
    expect(slices.take(RUN, { epoch: 2, from: 0, to: 1 })).toEqual(slice(0, 'one'));
  });

  it('are bounded in sum: the oldest go first', () => {
    const slices = new ShownSlices();
    const text = 'x'.repeat(1024 * 1024);
    for (let from = 0; from < 20; from += 1) slices.show(RUN, [slice(from, text)]);
    expect(slices.take(RUN, { epoch: 2, from: 0, to: 20 })).toBeUndefined();
    expect(slices.take(RUN, { epoch: 2, from: 19, to: 20 })).toBeDefined();
  });
});
