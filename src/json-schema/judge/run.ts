/**
 * State of one check of a value against a JSON Schema: its budget, its references, and its reports. Pure; runs
 * anywhere.
 */

import { MAX_SCHEMA_STEPS } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isRecord } from '../../protocol/values/json.js';

/** A pattern that is matched in time linear in the text. */
export interface LinearPattern {
  readonly test: (text: string) => boolean;
  /** Number of instructions of its program: the time for one character is at most proportional to it. */
  readonly size: number;
}

/** Rules for texts. Without them, `pattern`, `patternProperties` and `format` admit every value. */
export interface TextRules {
  /** @throws for a pattern that cannot be matched in linear time */
  readonly pattern: (source: string) => LinearPattern;
  /** Undefined for unknown formats, which admit every text. */
  readonly format: (name: string) => ((text: string) => boolean) | undefined;
}

/** Thrown and caught inside this folder; one object for all, because its stack is never read. */
export const TOO_MUCH = new Error('too much work');

/** A schema that no value can be checked against. */
export class UnusableSchema extends Error {
  override readonly name = 'UnusableSchema';
}

/** Limit of nested checks, which take frames of the stack; an answer has 64 levels, and each passes a few keywords. */
const MAX_DEPTH = 600;
/** Characters that are read, compared or hashed in one step. */
const CHARS_PER_STEP = 64;
/** Characters times instructions in one step: measured, 100 to 300 ns for each at worst. */
const MATCHES_PER_STEP = 50;
const MAX_FAULTS = 20;
const MAX_FAULT_CHARS = 300;

/** The place of a value; converted to a pointer only where there is a fault. */
export interface Place {
  readonly within: Place | undefined;
  readonly key: string | number;
}

/** Collects the results of a schema. */
export interface Report {
  /** Undefined where only the verdict counts. */
  readonly faults: FieldProblem[] | undefined;
  /** Properties and items that were evaluated, for `unevaluated…`. Undefined where no schema uses those. */
  readonly seen: Set<string> | undefined;
}

export class Run {
  readonly tracksSeen: boolean;
  readonly texts: TextRules | undefined;
  readonly #root: unknown;
  readonly #targets = new Map<string, unknown>();
  #left = MAX_SCHEMA_STEPS;
  #depth = 0;

  constructor(root: unknown, texts: TextRules | undefined) {
    this.#root = root;
    this.texts = texts;
    this.tracksSeen = mentionsUnevaluated(root);
  }

  /** @throws TOO_MUCH when the budget is used up */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw TOO_MUCH;
  }

  spendChars(chars: number): void {
    this.spend(Math.ceil(chars / CHARS_PER_STEP));
  }

  spendMatch(chars: number, size: number): void {
    this.spend(Math.ceil(((chars + 1) * size) / MATCHES_PER_STEP));
  }

  /** @throws TOO_MUCH when checks are nested too deeply, as circular references are */
  nested(check: () => boolean): boolean {
    if (this.#depth >= MAX_DEPTH) throw TOO_MUCH;
    this.#depth += 1;
    const isValid = check();
    this.#depth -= 1;
    return isValid;
  }

  /** @throws {UnusableSchema} for a reference that leads nowhere in this document */
  target(ref: string): unknown {
    if (!this.#targets.has(ref)) this.#targets.set(ref, referred(this.#root, ref));
    const target = this.#targets.get(ref);
    if (target === undefined) throw new UnusableSchema(`$ref "${cut(ref)}" leads nowhere`);
    return target;
  }

  report(faults?: FieldProblem[]): Report {
    return { faults, seen: this.tracksSeen ? new Set() : undefined };
  }

  /** Counts properties and items that an inner schema has evaluated for the schema around it. */
  takeSeen(from: Report, into: Report): void {
    if (from.seen === undefined) return;
    this.spend(Math.ceil(from.seen.size / CHARS_PER_STEP));
    for (const key of from.seen) into.seen?.add(key);
  }
}

/** Adds a fault, cut to a readable length. Always returns false, so that a check can end with it. */
export function refuse(report: Report, place: Place | undefined, message: string): false {
  if (report.faults !== undefined && report.faults.length < MAX_FAULTS)
    addFault(report, { path: cut(pointerTo(place)), message: cut(message) });
  return false;
}

/** Adds a fault; drops those beyond the limit of a check. */
export function addFault({ faults }: Report, fault: FieldProblem): void {
  if (faults !== undefined && faults.length < MAX_FAULTS) faults.push(fault);
}

export function cut(text: string): string {
  return text.length <= MAX_FAULT_CHARS ? text : `${text.slice(0, MAX_FAULT_CHARS)}…`;
}

function pointerTo(place: Place | undefined): string {
  const parts: string[] = [];
  for (let at = place; at !== undefined; at = at.within)
    parts.unshift(`/${cut(String(at.key)).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return parts.join('');
}

/** The target of a reference into this document; undefined when it leads nowhere. */
export function referred(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let node = root;
  for (const part of decoded(ref.slice(1)).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) node = (node as readonly unknown[])[Number(key)];
    else node = isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return ref === '#' || ref.startsWith('#/') ? node : undefined;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function mentionsUnevaluated(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(mentionsUnevaluated);
  if (!isRecord(node)) return false;
  return (
    'unevaluatedProperties' in node ||
    'unevaluatedItems' in node ||
    Object.values(node).some(mentionsUnevaluated)
  );
}
