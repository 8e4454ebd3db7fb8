/** Keywords of JSON Schema for the contents of objects and arrays. Pure; runs anywhere. */
import { isRecord } from '../../protocol/values/json.js';
import { firstRepeat } from './equal.js';
import { refuse } from './run.js';
import type { Question } from './scalars.js';

/** Checks an inner value by an inner schema. */
export type CheckInside = (schema: unknown, inner: Omit<Question, 'run' | 'schema'>) => boolean;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Checks `properties` and all other keywords for objects, except `unevaluatedProperties` and schemas of the whole
 * value.
 */
export function checkObject(question: Question, inside: CheckInside): boolean {
  const { run, schema, value } = question;
  if (!isRecord(value) || !OBJECT_KEYWORDS.some((keyword) => schema[keyword] !== undefined))
    return true;
  const keys = Object.keys(value);
  run.spendChars(16 * keys.length);
  const isOfSize = checkSize(question, {
    count: keys.length,
    least: schema['minProperties'],
    most: schema['maxProperties'],
    things: 'properties',
  });
  const hasRequired = checkRequired(question, value);
  const areNamed = checkNames(question, keys, inside);
  return checkProperties(question, value, inside) && isOfSize && hasRequired && areNamed;
}

const OBJECT_KEYWORDS: readonly string[] = [
  ...['properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'required'],
  ...['minProperties', 'maxProperties', 'dependentRequired', 'dependencies'],
];

interface Size {
  readonly count: number;
  readonly least: unknown;
  readonly most: unknown;
  readonly things: string;
}

function checkSize({ report, place }: Question, { count, least, most, things }: Size): boolean {
  if (typeof least === 'number' && count < least)
    return refuse(report, place, `must have at least ${least} ${things}, got ${count}`);
  if (typeof most === 'number' && count > most)
    return refuse(report, place, `must have at most ${most} ${things}, got ${count}`);
  return true;
}

function checkRequired(question: Question, value: Fields): boolean {
  const { run, schema } = question;
  let isValid = lacksNone(question, value, schema['required']);
  for (const keyword of ['dependentRequired', 'dependencies']) {
    const lists = schema[keyword];
    if (!isRecord(lists)) continue;
    run.spendChars(4 * Object.keys(lists).length);
    for (const [key, names] of Object.entries(lists))
      if (Object.hasOwn(value, key) && !lacksNone(question, value, names)) isValid = false;
  }
  return isValid;
}

function lacksNone({ run, place, report }: Question, value: Fields, names: unknown): boolean {
  if (!Array.isArray(names)) return true;
  run.spendChars(4 * names.length);
  let isValid = true;
  for (const name of names)
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      isValid = refuse(report, place, `must have the required property "${name}"`);
  return isValid;
}

function checkNames(
  { run, schema, place, report }: Question,
  keys: readonly string[],
  inside: CheckInside,
): boolean {
  const { propertyNames } = schema;
  if (propertyNames === undefined) return true;
  let isValid = true;
  for (const key of keys) {
    const inner = { value: key, place: { within: place, key }, report: run.report(report.faults) };
    if (!inside(propertyNames, inner)) isValid = false;
  }
  return isValid;
}

function checkProperties(question: Question, value: Fields, inside: CheckInside): boolean {
  const { run, schema, place, report } = question;
  const { properties, additionalProperties } = schema;
  const named = isRecord(properties) ? properties : {};
  const patterns = patternsIn(question);
  // Without rules for texts, the properties that a pattern would cover are unknown.
  const isUnknown = isRecord(schema['patternProperties']) && run.texts === undefined;
  let isValid = true;
  for (const [key, item] of Object.entries(value)) {
    const at = { within: place, key };
    const admits = (by: unknown): boolean =>
      inside(by, { value: item, place: at, report: run.report(report.faults) });
    let isCovered = Object.hasOwn(named, key);
    if (isCovered && !admits(named[key])) isValid = false;
    for (const { test, size, schema: byPattern } of patterns) {
      run.spendMatch(key.length, size);
      if (!test(key)) continue;
      isCovered = true;
      if (!admits(byPattern)) isValid = false;
    }
    if (!isCovered && additionalProperties !== undefined && !isUnknown) {
      isCovered = true;
      if (!admits(additionalProperties)) isValid = false;
    }
    if (isCovered) report.seen?.add(key);
  }
  return isValid;
}

interface PatternSchema {
  readonly test: (text: string) => boolean;
  readonly size: number;
  readonly schema: unknown;
}

function patternsIn({ run: { texts }, schema }: Question): readonly PatternSchema[] {
  const { patternProperties } = schema;
  if (!isRecord(patternProperties) || texts === undefined) return [];
  return Object.entries(patternProperties).map(([source, byPattern]) => ({
    ...texts.pattern(source),
    schema: byPattern,
  }));
}

/** Checks `items` and all other keywords for arrays, except `unevaluatedItems`. */
export function checkArray(question: Question, inside: CheckInside): boolean {
  const { run, schema, value, place, report } = question;
  if (!Array.isArray(value)) return true;
  const items: readonly unknown[] = value;
  let isValid = checkSize(question, {
    count: items.length,
    least: schema['minItems'],
    most: schema['maxItems'],
    things: 'items',
  });
  if (!checkItems(question, items, inside)) isValid = false;
  if (schema['contains'] !== undefined && !checkContains(question, items, inside)) isValid = false;
  if (schema['uniqueItems'] !== true) return isValid;
  const repeat = firstRepeat(run, items);
  return repeat === undefined
    ? isValid
    : refuse(report, place, `must have no item twice, but ${repeat.join(' and ')} are equal`);
}

function checkItems(
  { run, schema, place, report }: Question,
  items: readonly unknown[],
  inside: CheckInside,
): boolean {
  const { prefixItems, items: rest, additionalItems } = schema;
  // Before draft 2020-12, `items` held the list of schemas, and the rest had a keyword of its own.
  const isOldTuple = Array.isArray(rest);
  const list: unknown = isOldTuple ? rest : prefixItems;
  const tuple: readonly unknown[] = Array.isArray(list) ? list : [];
  const others = isOldTuple ? additionalItems : rest;
  const count = others === undefined ? Math.min(tuple.length, items.length) : items.length;
  let isValid = true;
  for (let index = 0; index < count; index += 1) {
    const inner = {
      value: items[index],
      place: { within: place, key: index },
      report: run.report(report.faults),
    };
    if (!inside(index < tuple.length ? tuple[index] : others, inner)) isValid = false;
    report.seen?.add(String(index));
  }
  return isValid;
}

function checkContains(
  { run, schema, place, report }: Question,
  items: readonly unknown[],
  inside: CheckInside,
): boolean {
  const { contains, minContains = 1, maxContains } = schema;
  let count = 0;
  for (const [index, value] of items.entries()) {
    if (!inside(contains, { value, place: undefined, report: run.report() })) continue;
    count += 1;
    report.seen?.add(String(index));
  }
  if (typeof minContains === 'number' && count < minContains)
    return refuse(
      report,
      place,
      `must contain at least ${minContains} items that match "contains", got ${count}`,
    );
  if (typeof maxContains === 'number' && count > maxContains)
    return refuse(
      report,
      place,
      `must contain at most ${maxContains} items that match "contains", got ${count}`,
    );
  return true;
}

/**
 * Checks `unevaluatedProperties` and `unevaluatedItems`: the properties and items that no other keyword has evaluated.
 */
export function checkUnevaluated(question: Question, inside: CheckInside): boolean {
  const { schema, value } = question;
  const { unevaluatedItems, unevaluatedProperties } = schema;
  if (Array.isArray(value) && unevaluatedItems !== undefined)
    return checkRest(question, unevaluatedItems, { entries: Object.entries(value), inside });
  if (isRecord(value) && unevaluatedProperties !== undefined)
    return checkRest(question, unevaluatedProperties, { entries: Object.entries(value), inside });
  return true;
}

interface Rest {
  readonly entries: readonly (readonly [string, unknown])[];
  readonly inside: CheckInside;
}

function checkRest(question: Question, schema: unknown, { entries, inside }: Rest): boolean {
  const { run, place, report } = question;
  run.spendChars(4 * entries.length);
  let isValid = true;
  for (const [key, value] of entries) {
    if (report.seen?.has(key) === true) continue;
    const inner = { value, place: { within: place, key }, report: run.report(report.faults) };
    if (!inside(schema, inner)) isValid = false;
    report.seen?.add(key);
  }
  return isValid;
}
