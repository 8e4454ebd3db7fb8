/** Prices of models as one table. */
import { describe, expect, it } from 'vitest';
import { DefinitionError, openaiModel, priceTable } from '../../../../src/index.js';

const row = (inputPerMTok: number) => ({ inputPerMTok, outputPerMTok: 10 });

describe('a table of prices', () => {
  it('has a model by its name, else by the longest beginning', () => {
    const prices = priceTable({ 'gpt-5': row(1), 'gpt-5*': row(2), 'gpt-5-mini*': row(3) });
    expect(prices('gpt-5')).toEqual(row(1));
    expect(prices('gpt-5-2026-01-01')).toEqual(row(2));
    expect(prices('gpt-5-mini-2026')).toEqual(row(3));
    expect(prices('o9')).toBeUndefined();
    expect(prices('toString')).toBeUndefined();
    const table = priceTable({ '*': row(4) });
    expect(table('anything')).toEqual(row(4));
    expect(openaiModel('gpt-5', { prices: table('gpt-5') ?? row(0) }).prices).toEqual(row(4));
  });

  it('is a copy: later changes have no effect', () => {
    const changing = { a: { ...row(1) } };
    const prices = priceTable(changing);
    changing.a.inputPerMTok = 99;
    expect(prices('a')).toEqual(row(1));
  });

  it('is refused with every broken rule in one report', () => {
    const make = () =>
      priceTable({
        'a*b': row(1),
        c: { inputPerMTok: -1, outputPerMTok: 1, currency: 'euro' },
        d: 'free',
      } as never);
    expect(make).toThrow(DefinitionError);
    for (const rule of [
      'a*b: may have "*"',
      'c.inputPerMTok: must',
      'c.currency: must',
      'd: must be',
    ])
      expect(make).toThrow(rule);
    expect(() => priceTable(undefined as never)).toThrow(DefinitionError);
  });
});
