/** Details of heartbeats and failures come from workers of any version. */
import { describe, expect, it } from 'vitest';
import { detailsIn } from '../../../../src/protocol/conversation/attempts.js';

const usage = { inputTokens: 3, outputTokens: 2 };
const spent = { model: 'gpt', attempt: 1, usage };

describe('the spending of a model call in the details of its failure', () => {
  it('is read with all of its fields', () => {
    const full = {
      ...usage,
      ...{ cachedInputTokens: 1, reasoningTokens: 1, costMicros: 9, estimated: true },
    };
    const open = { ...spent, usage: full, id: 'resp_1' };
    const details = { spent: { ...spent, usage: full }, open };
    expect(detailsIn(details)).toEqual(details);
  });

  it('omits fields that this version does not know', () => {
    const later = { ...spent, usage: { ...usage, audioTokens: 4, estimated: 'yes' }, more: 1 };
    expect(detailsIn({ spent: later, more: 2 })).toEqual({ spent });
  });

  it.each([
    undefined,
    null,
    'ACTIVITY_ID_NOT_STARTED',
    {},
    { spent: null },
    { spent: { ...spent, model: 7 } },
    { spent: { ...spent, attempt: '1' } },
    { spent: { ...spent, usage: { inputTokens: 3 } } },
    { spent: { ...spent, usage: { inputTokens: Number.NaN, outputTokens: 1 } } },
    { spent: { ...spent, usage: { inputTokens: -1, outputTokens: 1 } } },
    { open: spent },
    { open: { id: 'resp_1' } },
  ])('counts nothing where it is not understood: %j', (details) => {
    expect(detailsIn(details)).toEqual({});
  });
});
