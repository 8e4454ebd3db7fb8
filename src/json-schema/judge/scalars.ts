/** Keywords of JSON Schema for a value as a whole: its type, size and text. Pure; runs anywhere. */
import { isOneOf } from './equal.js';
import { cut, type Place, type Report, type Run, refuse } from './run.js';

export type SchemaNode = Readonly<Record<string, unknown>>;

/** The input of a keyword's check. */
export interface Question {
  readonly run: Run;
  readonly schema: SchemaNode;
  readonly value: unknown;
  readonly place: Place | undefined;
  readonly report: Report;
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Checks `type`, `const` and `enum`. */
export function checkKind({ run, schema, value, place, report }: Question): boolean {
  const { type, const: only, enum: some } = schema;
  let isValid = true;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (type !== undefined && !types.some((name) => isOfType(value, name)))
    isValid = refuse(report, place, `must be of type ${types.join(' or ')}, got ${typeOf(value)}`);
  if (only !== undefined && !isOneOf(run, [only], value))
    isValid = refuse(report, place, `must be ${shown([only])}`);
  if (Array.isArray(some) && !isOneOf(run, some, value))
    isValid = refuse(report, place, `must be one of ${shown(some)}`);
  return isValid;
}

function isOfType(value: unknown, type: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

/** The first few values: a list of thousands would be repeated for every value that is not in it. */
function shown(values: readonly unknown[]): string {
  const texts = values
    .slice(0, 10)
    .map((value) => (typeof value === 'object' && value !== null ? '{…}' : JSON.stringify(value)))
    .map((text) => text.slice(0, 60));
  return values.length > 10 ? `${texts.join(', ')}, … (${values.length})` : texts.join(', ');
}

type Bound = readonly [
  keyword: string,
  breaks: (value: number, bound: number) => boolean,
  rule: string,
];

const NUMBER_BOUNDS: readonly Bound[] = [
  ['minimum', (value, bound) => value < bound, 'must be at least'],
  ['maximum', (value, bound) => value > bound, 'must be at most'],
  ['exclusiveMinimum', (value, bound) => value <= bound, 'must be greater than'],
  ['exclusiveMaximum', (value, bound) => value >= bound, 'must be less than'],
];

export function checkNumber({ schema, value, place, report }: Question): boolean {
  if (typeof value !== 'number') return true;
  let isValid = true;
  for (const [keyword, breaks, rule] of NUMBER_BOUNDS) {
    const bound = schema[keyword];
    if (typeof bound === 'number' && breaks(value, bound))
      isValid = refuse(report, place, `${rule} ${bound}, got ${value}`);
  }
  const { multipleOf } = schema;
  if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
    isValid = refuse(report, place, `must be a multiple of ${multipleOf}, got ${value}`);
  return isValid;
}

/** Calculates in decimals, as the numbers are written: 0.3 is three times 0.1, though not in binary fractions. */
function isMultiple(value: number, divisor: number): boolean {
  if (divisor <= 0) return true;
  const [digits, exponent] = decimalOf(value);
  const [divisorDigits, divisorExponent] = decimalOf(divisor);
  const shift = exponent - divisorExponent;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** BigInt(-shift)) === 0n;
}

function decimalOf(value: number): readonly [digits: bigint, exponent: number] {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

export function checkText(question: Question): boolean {
  const { run, schema, value, place, report } = question;
  if (typeof value !== 'string') return true;
  let isValid = checkLength(question, value);
  const { pattern, format } = schema;
  if (typeof pattern === 'string' && run.texts !== undefined) {
    const { test, size } = run.texts.pattern(pattern);
    run.spendMatch(value.length, size);
    if (!test(value)) isValid = refuse(report, place, `must match the pattern ${cut(pattern)}`);
  }
  if (typeof format === 'string' && run.texts !== undefined) {
    run.spendChars(value.length);
    const admits = run.texts.format(format);
    if (admits !== undefined && !admits(value))
      isValid = refuse(report, place, `must have the format "${cut(format)}"`);
  }
  return isValid;
}

function checkLength({ run, schema, place, report }: Question, text: string): boolean {
  const { minLength, maxLength } = schema;
  if (minLength === undefined && maxLength === undefined) return true;
  run.spendChars(text.length);
  const length = codePoints(text);
  if (typeof minLength === 'number' && length < minLength)
    return refuse(report, place, `must have at least ${minLength} characters, got ${length}`);
  if (typeof maxLength === 'number' && length > maxLength)
    return refuse(report, place, `must have at most ${maxLength} characters, got ${length}`);
  return true;
}

function codePoints(text: string): number {
  let pairs = 0;
  for (let index = 1; index < text.length; index += 1) {
    const isLow = (text.charCodeAt(index) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) pairs += 1;
  }
  return text.length - pairs;
}
