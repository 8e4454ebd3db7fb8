/** Faults and warnings of documents: all of them are collected, and reported at once. Runs anywhere. */
import type { z } from 'zod';
import { DefinitionError, type DefinitionProblem } from '../../../define/checks/problems.js';
import { MAX_ANSWER_DEPTH } from '../../../protocol/limits/limits.js';
import { isRecord, utf8Bytes } from '../../../protocol/values/json.js';

/** A choice that was made for a document that leaves it open, or a part of it that has no effect. */
export interface Warning {
  /** Place in the documents, such as `[2].timeout` or `tools.json[0].name`. */
  readonly path: string;
  readonly message: string;
}

export class Findings {
  readonly warnings: Warning[] = [];
  readonly #faults: DefinitionProblem[] = [];
  readonly #strict: boolean;

  /** @param strict every warning is a fault */
  constructor(strict = false) {
    this.#strict = strict;
  }

  /** Number of faults: unchanged after a document that has none. */
  get faults(): number {
    return this.#faults.length;
  }

  fault(path: string, rule: string): void {
    this.#faults.push({ field: path, rule });
  }

  warn(path: string, message: string): void {
    if (this.#strict) this.fault(path, message);
    else this.warnings.push({ path, message });
  }

  /**
   * The parsed document. One that breaks rules of the schema has its faults added, and is parsed without the fields
   * that break them (`required` has values of such), so that faults of its other fields are found as well.
   */
  parsed<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    { at, required }: { readonly at: string; readonly required: Readonly<Record<string, unknown>> },
  ): z.output<Schema> | undefined {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const { issues } = parsed.error;
    for (const { path, message } of issues) this.fault(pathBelow(at, path), message);
    if (!isRecord(value)) return undefined;
    const faulty = new Set(issues.map(({ path }) => path[0]));
    const kept = Object.entries(value).filter(([field]) => !faulty.has(field));
    const replaced = Object.entries(required).filter(([field]) => faulty.has(field));
    return schema.safeParse(Object.fromEntries([...kept, ...replaced])).data;
  }

  /** Runs a definition; undefined, with its faults added at the fields that `place` names, when it is refused. */
  defined<Value>(define: () => Value, place: (field: string) => string): Value | undefined {
    try {
      return define();
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      for (const { field, rule } of error.problems) this.fault(place(field), rule);
      return undefined;
    }
  }

  /** @throws {DefinitionError} with every fault that was added */
  throwIfAny(subject: string): void {
    if (this.#faults.length > 0) throw new DefinitionError(subject, this.#faults);
  }
}

/**
 * A document as JSON: no other part of it could be stored. Checks depth and bytes before all else, since the checks of
 * its fields recurse.
 * @throws {DefinitionError} where it is nested too deep, or too large
 */
export function storable(
  given: unknown,
  {
    subject,
    most,
    because = '',
  }: { readonly subject: string; readonly most: number; readonly because?: string },
): unknown {
  const refused = (rule: string): DefinitionError =>
    new DefinitionError(subject, [{ field: '', rule }]);
  if (isDeeperThan(MAX_ANSWER_DEPTH, given))
    throw refused(`must be nested at most ${MAX_ANSWER_DEPTH} deep`);
  const text = JSON.stringify(given ?? null);
  const bytes = utf8Bytes(text);
  if (bytes > most) throw refused(`must be at most ${most} bytes of JSON${because}, got ${bytes}`);
  return JSON.parse(text) as unknown;
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((each) => isDeeperThan(depth - 1, each));
}

/** The path of a field of the document at `at`. */
export function below(at: string, field: string): string {
  const joint = at === '' || at.endsWith(': ') || field === '' || field.startsWith('[') ? '' : '.';
  return `${at}${joint}${field}`;
}

function pathBelow(at: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (place, key) => (typeof key === 'number' ? `${place}[${key}]` : below(place, String(key))),
    at,
  );
}
