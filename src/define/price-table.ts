/** Prices of models as one table of data. Runs anywhere. */
import { isRecord } from '../protocol/json.js';
import type { ModelPrices } from '../protocol/model.js';
import { checkPriceList } from './prices.js';
import { ProblemList, shown } from './problems.js';

/**
 * Finds the prices of a model by its provider's name for it. A key that ends in `*` stands for all names that begin so; the
 * name itself goes first, then the longest such key. Undefined for a model that the table does not have: what it costs is not known.
 */
export type PriceTable = (model: string) => ModelPrices | undefined;

/**
 * Makes a table of prices, such as `priceTable({'gpt-5.1*': {inputPerMTok: 1.25, outputPerMTok: 10}})`; the engine comes with
 * none, for prices change. Give them to models where these are made: `openaiModel(name, {prices: prices(name)})`. It is a copy: what is
 * changed later changes nothing.
 * @throws {DefinitionError} invalid_definition with every broken rule.
 */
export function priceTable(table: Readonly<Record<string, ModelPrices>>): PriceTable {
  const problems = new ProblemList();
  const rows: unknown = table;
  if (!isRecord(rows)) problems.add('', `must be an object by names of models, got ${shown(rows)}`);
  else
    for (const [name, prices] of Object.entries(rows)) {
      if (name.slice(0, -1).includes('*')) problems.add(name, 'may have "*" at its end only');
      checkPriceList(prices, name, problems);
    }
  problems.throwIfAny('a table of prices');
  const known = new Map(Object.entries(table).map(([name, prices]) => [name, { ...prices }]));
  const beginnings = [...known.keys()]
    .filter((name) => name.endsWith('*'))
    .sort((a, b) => b.length - a.length);
  return (model) =>
    known.get(model) ??
    known.get(beginnings.find((name) => model.startsWith(name.slice(0, -1))) ?? '');
}
