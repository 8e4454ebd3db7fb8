/** Equality of JSON values, which spends steps of the budget for the comparison. Pure; runs anywhere. */
import { canonicalJson, isRecord } from '../../protocol/values/json.js';
import type { Run } from './run.js';

/** Whether a value equals one of a list. */
export function isOneOf(run: Run, list: readonly unknown[], value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    run.spendChars(4 * list.length + (typeof value === 'string' ? value.length : 0));
    return list.includes(value);
  }
  return list.some((item) => isEqual(run, item, value));
}

function isEqual(run: Run, one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  run.spend(1);
  if (Array.isArray(one) && Array.isArray(other))
    return (
      one.length === other.length && one.every((item, index) => isEqual(run, item, other[index]))
    );
  if (!isRecord(one) || !isRecord(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isEqual(run, one[key], other[key]))
  );
}

/** The indexes of the first two equal items; undefined when all differ. Takes time linear in the size of the items. */
export function firstRepeat(
  run: Run,
  items: readonly unknown[],
): readonly [number, number] | undefined {
  const places = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const text = canonicalJson(item);
    run.spendChars(CHARS_OF_ITEM + text.length);
    const before = places.get(text);
    if (before !== undefined) return [before, index];
    places.set(text, index);
  }
  return undefined;
}

/** Cost of an item in addition to its text, in characters: four items take one step. */
const CHARS_OF_ITEM = 16;
