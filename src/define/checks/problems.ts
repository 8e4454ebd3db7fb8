/**
 * Faults of definitions. A definition is checked as a whole: one error has every broken rule, so that an author fixes a
 * tool in one go instead of meeting its faults one by one. Runs anywhere.
 */

import { unknownFieldRule } from '../../protocol/values/field-problem.js';

/** A definition before its check, perhaps from a caller without types. */
export type Untyped = Readonly<Record<string, unknown>>;

/** One field of a definition and the rule it breaks. */
export interface DefinitionProblem {
  /** Dotted path of the field, such as `timeouts.run` or `tools[2].name`; empty for the definition as a whole. */
  readonly field: string;
  readonly rule: string;
}

/** Thrown for a definition that breaks rules. `problems` has all of them; the message lists them, one a line. */
export class DefinitionError extends Error {
  readonly code = 'invalid_definition';
  readonly problems: readonly DefinitionProblem[];

  constructor(subject: string, problems: readonly DefinitionProblem[]) {
    const lines = problems.map(
      ({ field, rule }) => `  - ${field === '' ? '' : `${field}: `}${rule}`,
    );
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    super(`Invalid definition of ${subject} (${count}):\n${lines.join('\n')}`);
    this.name = 'DefinitionError';
    this.problems = problems;
  }
}

/** Collects the faults of one definition. */
export class ProblemList {
  readonly #problems: DefinitionProblem[] = [];

  add(field: string, rule: string): void {
    this.#problems.push({ field, rule });
  }

  /** Adds the rule unless it is undefined: fits the `…Problem` functions of the protocol. */
  addIf(field: string, rule: string | undefined): void {
    if (rule !== undefined) this.add(field, rule);
  }

  /**
   * Ends the check.
   * @throws {DefinitionError} invalid_definition when anything was added.
   */
  throwIfAny(subject: string): void {
    if (this.#problems.length > 0) throw new DefinitionError(subject, this.#problems);
  }
}

/** The value as a short text on one line, for use in a sentence. Never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** Reports every key of `value` that is not in `allowed`. */
export function checkKeys(
  problems: ProblemList,
  value: Readonly<Record<string, unknown>>,
  where: { readonly prefix: string; readonly allowed: readonly string[] },
): void {
  for (const key of Object.keys(value)) {
    if (value[key] !== undefined && !where.allowed.includes(key))
      problems.add(`${where.prefix}${key}`, unknownFieldRule(key, where.allowed));
  }
}
