/** The prices of a model, and the budget that needs them, as an agent's definition has them. Runs anywhere. */
import { isRecord } from '../protocol/json.js';
import { checkKeys, type ProblemList, shown } from './problems.js';

const PRICES = ['inputPerMTok', 'cachedInputPerMTok', 'outputPerMTok'];

/** Adds every fault of `model.prices`, and says so when a budget of cost has none to go by. */
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
export function checkPriceList(prices: unknown, field: string, problems: ProblemList): void {
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
