/**
 * Tables of a state machine: every state met with every input. A cell says what the sender is told and what is recorded,
 * as `told: event event`; a cell that is not written down is the input's usual refusal. What records nothing must change
 * nothing, nothing throws, and neither a restart nor a roll-over before the input makes any difference.
 */
import { describe, expect, it, type TestOptions } from 'vitest';
import type { MachineUnderTest } from './core-driver.js';
import { expectInvariants } from './core-invariants.js';

export interface TableInput {
  /** Gives it to the machine; returns what its sender is told, or nothing where nobody can be told. */
  readonly enter: (m: MachineUnderTest) => string | undefined;
  /** What the sender is told where nothing comes of it. */
  readonly refused: string;
}

/** What happens to the machine, without a sender. */
export function happening(enter: (m: MachineUnderTest) => void): TableInput {
  return {
    enter: (m) => {
      enter(m);
      return undefined;
    },
    refused: '-',
  };
}

export interface TableState<Input extends string> {
  readonly build: () => MachineUnderTest;
  readonly cells: Readonly<Partial<Record<Input, string>>>;
}

/** Registers one test for each state and input, all with the options. `subject` is completed by the name of the state. */
export function stateTable<Input extends string>(
  subject: string,
  options: TestOptions,
  inputs: Readonly<Record<Input, TableInput>>,
  states: Readonly<Record<string, TableState<Input>>>,
): void {
  for (const [name, state] of Object.entries(states))
    describe(`${subject} ${name}`, options, () => {
      for (const input of Object.keys(inputs) as Input[]) {
        const expected = state.cells[input] ?? inputs[input].refused;
        it(`meets ${input} with "${expected}"`, () => {
          meet(state.build, inputs[input], expected);
        });
      }
    });
}

function meet(build: () => MachineUnderTest, input: TableInput, expected: string): void {
  const changes: readonly ((m: MachineUnderTest) => unknown)[] = [
    () => undefined,
    (m) => m.restart(),
    (m) => (m.state.closed ? m : m.rollOver()),
  ];
  for (const change of changes) {
    const m = build();
    change(m);
    m.mark();
    const before = structuredClone(m.state);
    const told = input.enter(m) ?? '-';
    const recorded = m.types();
    const met = recorded.length === 0 ? told : `${told}: ${recorded.join(' ')}`;
    expect(met, met).toBe(expected);
    if (recorded.length === 0) expect(m.state).toEqual(before);
    expectInvariants(m);
    // Again: a second one may be told anything, but corrupts nothing.
    input.enter(m);
    expectInvariants(m);
  }
}
