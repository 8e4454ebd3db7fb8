/** The prices of models, for one agent and as a table. Runs anywhere. */
import type { ModelPrices } from '../../protocol/model/model.js';
import { isRecord } from '../../protocol/values/json.js';
import { checkKeys, ProblemList, shown } from '../checks/problems.js';

const PRICES = ['inputPerMTok', 'cachedInputPerMTok', 'outputPerMTok'];

/** Adds every fault of `model.prices`, and one for a cost budget without prices. */
export function checkPrices(prices: unknown, budgets: unknown, problems: ProblemList): void {
  const hasBudget = isRecord(budgets) && budgets['cost'] !== undefined;
  if (prices === undefined) {
    if (hasBudget)
      problems.add(
        'settings.budgets.cost',
        'needs a model with prices, such as openaiModel(name, {prices: {inputPerMTok, outputPerMTok}})',
      );
    return;
  }
  checkPriceList(prices, 'model.prices', problems);
}

/** Adds every fault of one model's prices. */
function checkPriceList(prices: unknown, field: string, problems: ProblemList): void {
  if (!isRecord(prices)) {
    problems.add(field, `must be an object, got ${shown(prices)}`);
    return;
  }
  checkKeys(problems, prices, { prefix: `${field}.`, allowed: [...PRICES, 'currency'] });
  for (const name of PRICES) {
    const price = prices[name];
    if (price === undefined && name === 'cachedInputPerMTok') continue;
    if (typeof price !== 'number' || !Number.isFinite(price) || price < 0)
      problems.add(`${field}.${name}`, `must be a number from 0, got ${shown(price)}`);
  }
  const { currency } = prices;
  if (currency !== undefined && (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)))
    problems.add(
      `${field}.currency`,
      `must be three letters such as "EUR", got ${shown(currency)}`,
    );
}

/**
 * Finds the prices of a model by its provider's name for it. A key that ends in `*` matches all names with that prefix;
 * the exact name wins, then the longest such key. Undefined for a model that the table does not have: its cost is not
 * known.
 */
export type PriceTable = (model: string) => ModelPrices | undefined;

/**
 * Makes a table of prices, such as `priceTable({'gpt-5.1*': {inputPerMTok: 1.25, outputPerMTok: 10}})`; the engine has
 * none of its own, since prices change. Pass the prices to models where these are made: `openaiModel(name, {prices:
 * prices(name)})`. Copies its argument: later changes have no effect.
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
