/** Tokens of texts that no provider has counted yet. */
import { describe, expect, it } from 'vitest';
import { inputTokensOf, tokenCounting } from '../../../../src/model/shared/count-tokens.js';

const PROSE = 'The quick brown fox jumps over the lazy dog, 12 times. {"a": [1, 2]} ';

describe('a count of tokens', () => {
  it('is that of the tokenizer for short texts, control tokens being text like any other', async () => {
    const count = await tokenCounting.exact();
    expect(count('hello world')).toBe(2);
    expect(count('<|endoftext|>')).toBeGreaterThan(1);
    expect(count('')).toBe(0);
  });

  it('of a long text is within a few per cent, without reading all of it', async () => {
    const count = await tokenCounting.exact();
    const short = PROSE.repeat(200);
    expect(short.length).toBeLessThanOrEqual(16 * 1024);
    const perChar = count(short) / short.length;
    const long = PROSE.repeat(10_000);
    expect(count(long) / long.length / perChar).toBeGreaterThan(0.95);
    expect(count(long) / long.length / perChar).toBeLessThan(1.05);
  });

  it.each([
    ['prose', PROSE.repeat(100)],
    ['digits and letters in no order', Buffer.from(PROSE.repeat(50)).toString('base64')],
    ['Japanese', '日本語のテキスト。今日は天気がいい'.repeat(100)],
    ['emoji', '😀🎉🚀'.repeat(200)],
    ['one run of a letter', 'x'.repeat(8_000)],
  ])('by size alone is at most 2.5 times too low: %s', async (_title, text) => {
    const count = await tokenCounting.exact();
    expect(count(text) / tokenCounting.rough(text)).toBeLessThan(2.5);
  });

  it('of texts that slow tokenizers down takes no noticeable time', async () => {
    const count = await tokenCounting.exact();
    const before = performance.now();
    count('_'.repeat(1_000_000));
    count('x'.repeat(16_000));
    expect(performance.now() - before).toBeLessThan(2_000);
  });
});

describe('the bound on the input of one request', () => {
  it.each([
    ['gpt-5.1', 272_000],
    ['gpt-5-mini-2025-08-07', 272_000],
    ['gpt-5.1-chat-latest', 111_000],
    ['gpt-5.5-2026-04-23', 922_000],
    ['gpt-5.4-mini', 272_000],
    ['gpt-4.1-nano', 1_014_000],
    ['gpt-4o-mini', 111_000],
    ['gpt-4-turbo', 123_000],
    ['gpt-4', 6_000],
    ['gpt-3.5-turbo', 12_000],
    ['o4-mini', 100_000],
    ['llama-3', undefined],
  ])('is known of %s', (name, tokens) => {
    expect(inputTokensOf(name)).toBe(tokens);
  });
});
