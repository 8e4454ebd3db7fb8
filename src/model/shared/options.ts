/**
 * Checks the options of models at run time when the model is made, so that its provider does not reject them in the
 * middle of a turn.
 */
import { isRecord } from '../../protocol/values/json.js';

/** The rule that a value breaks, such as `must be a text`; undefined for a valid value. */
export type OptionRule = (value: unknown) => string | undefined;

/** By the name of the option. All other names are unknown. */
export type OptionRules<Options> = Readonly<Record<keyof Options, OptionRule>>;

/** @throws {TypeError} that names every option that breaks its rule, never its value: that may be a key */
export function checkOptions<Options>(
  maker: string,
  options: unknown,
  rules: OptionRules<Options>,
): void {
  if (!isRecord(options)) throw new TypeError(`${maker}: the options must be an object`);
  const known: Readonly<Record<string, OptionRule>> = rules;
  const problems = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const unknown = `is unknown; known are ${Object.keys(known).join(', ')}`;
    const problem = Object.hasOwn(known, name) ? known[name]?.(value) : unknown;
    return problem === undefined ? [] : [`\`${name}\` ${problem}`];
  });
  if (problems.length > 0) throw new TypeError(`${maker}: ${problems.join('; ')}`);
}

const rule =
  (isGood: (value: unknown) => boolean, problem: string): OptionRule =>
  (value) =>
    isGood(value) ? undefined : problem;

/** The rules that options share. */
export const must = {
  /** Validated elsewhere. */
  stand: (): undefined => undefined,
  beText: rule((value) => typeof value === 'string', 'must be a text'),
  beNumber: rule(Number.isFinite, 'must be a number'),
  beBoolean: rule((value) => typeof value === 'boolean', 'must be true or false'),
  beFunction: rule((value) => typeof value === 'function', 'must be a function'),
  beObject: rule(isRecord, 'must be an object'),
  beCount: rule(
    (value) => Number.isSafeInteger(value) && Number(value) >= 1,
    'must be a whole number from 1',
  ),
  beMilliseconds: rule(
    (value) => Number.isFinite(value) && Number(value) > 0,
    'must be a number of milliseconds above 0',
  ),
  beToolChoice: rule(
    (value) =>
      value === 'auto' ||
      value === 'required' ||
      value === 'none' ||
      (isRecord(value) && typeof value['name'] === 'string'),
    'must be "auto", "required", "none" or {name}',
  ),
} as const;

export function oneOf(...values: readonly string[]): OptionRule {
  const words = values.map((value) => JSON.stringify(value)).join(' or ');
  return rule((value) => values.includes(value as string), `must be ${words}`);
}

/** Which tool the model has to call: any or none, at least one, none, or this one. */
export type ToolChoice = 'auto' | 'required' | 'none' | { readonly name: string };
