/** Faults and warnings of documents: all of them are collected, and reported at once. Runs anywhere. */
import type { z } from 'zod';
import { DefinitionError, type DefinitionProblem } from '../../../define/checks/problems.js';

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

  fault(path: string, rule: string): void {
    this.#faults.push({ field: path, rule });
  }

  warn(path: string, message: string): void {
    if (this.#strict) this.fault(path, message);
    else this.warnings.push({ path, message });
  }

  /** The parsed document; undefined, with its faults added, when it breaks a rule of the schema. */
  parsed<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    at: string,
  ): z.output<Schema> | undefined {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const { path, message } of parsed.error.issues) this.fault(pathBelow(at, path), message);
    return undefined;
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
