/** Texts that a model is given to summarise. */
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { ModelRequest } from '../../../../src/protocol/model/model.js';
import { textProblems } from '../../../../src/protocol/values/well-formed.js';
import { says, script } from '../../../../src/testing/index.js';
import { makeSummary } from '../../../../src/tools/model-input/summarize.js';

const count = (text: string): number => Math.ceil(text.length / 4);

/** The request that asks for a summary of one turn, and the text that is made of the answer. */
async function summaryOf(text: string, answer = 'short', maxTokens = 30_000) {
  const requests: ModelRequest[] = [];
  const messages: readonly Message[] = [
    { role: 'user', id: 'm', turnId: 't', parts: [{ type: 'text', text }] },
    { role: 'assistant', id: 'a', turnId: 't', step: 1, parts: [{ type: 'text', text: 'ok' }] },
  ];
  const made = await makeSummary({
    model: script(says('unused')),
    ...{ messages, maxTokens },
    counting: { rough: count, exact: () => Promise.resolve(count) },
    ask: (request) => {
      requests.push(request);
      return Promise.resolve({ parts: [{ type: 'text', text: answer }] } as never);
    },
    isTooLong: () => false,
  });
  return { request: requests[0], text: made?.text ?? '' };
}

describe('a text that is cut for a summary', () => {
  // The second cut falls into a pair, and one of the first ones.
  it.each([3_992, 3_993])('keeps its pairs of surrogates whole (%i)', async (before) => {
    const { request } = await summaryOf(`${'a'.repeat(before)}${'😀'.repeat(5_000)}b`);
    expect(JSON.stringify(request).includes(' […] 😀')).toBe(true);
    expect(textProblems(request)).toEqual([]);
  });

  it('keeps them whole where a turn is longer than the model reads', async () => {
    for (const maxTokens of [500, 501, 502, 503]) {
      const { request } = await summaryOf('😀'.repeat(3_000), 'short', maxTokens);
      expect(textProblems(request)).toEqual([]);
    }
  });

  it('keeps them whole in a summary that is too long itself', async () => {
    for (const before of ['', 'a', 'ab', 'abc']) {
      const { text } = await summaryOf('hello', `${before}${'😀'.repeat(20_000)}`);
      expect(text).toContain('😀');
      expect(textProblems(text)).toEqual([]);
    }
  });
});
