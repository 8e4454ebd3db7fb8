/** Definitions as callers without a compiler write them, and their faults by field. */
import { expect } from 'vitest';
import { DefinitionError, defineAgent, defineTool } from '../../../../src/index.js';

export const defineUntyped = defineTool as unknown as (spec: unknown) => unknown;

/** Every fault of a tool definition; empty when there is none. */
export function toolFaults(spec: unknown): Record<string, string> {
  return faultsOf(() => defineUntyped(spec));
}

/** A wrong definition in a table of tests: its title, the field, and the rule that it breaks. */
export type Fault = readonly [title: string, spec: unknown, field: string, rule: RegExp];

export function expectFault([, spec, field, rule]: Fault): void {
  expect(toolFaults(spec)[field]).toMatch(rule);
}

/** Every fault of an agent definition; empty when there is none. */
export function agentFaults(spec: unknown): Record<string, string> {
  return faultsOf(() => (defineAgent as unknown as (spec: unknown) => unknown)(spec));
}

/** Every fault of a definition; empty when there is none. */
export function faultsOf(define: () => unknown): Record<string, string> {
  try {
    define();
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    expect(error.code).toBe('invalid_definition');
    for (const { field, rule } of error.problems)
      expect(error.message).toContain(field === '' ? rule : `${field}: ${rule}`);
    return Object.fromEntries(error.problems.map(({ field, rule }) => [field, rule]));
  }
  return {};
}

/** Matches texts that contain this one. */
export function containing(text: string): unknown {
  return expect.stringContaining(text);
}
