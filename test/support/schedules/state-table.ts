/**
 * Tables of a state machine: every state with every input. A cell has the reply to the sender and the recorded
 * events, as `reply: event event`; a cell that is absent means the input's usual refusal. An input that records
 * nothing must change nothing, nothing throws, and neither a restart nor a roll-over before the input makes any
 * difference.
 */
import { describe, expect, it, type TestOptions } from 'vitest';
import type { MachineUnderTest } from './core-driver.js';
import { expectInvariants } from './core-invariants.js';

export interface TableInput {
  /** Gives the input to the machine; returns the reply to its sender, or nothing for an input without a reply. */
  readonly enter: (m: MachineUnderTest) => string | undefined;
  /** The reply to the sender of an input without effect. */
  readonly refused: string;
}

/** An input that happens to the machine, without a sender. */
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

/** Registers one test for each state and input, all with the options. The name of the state completes `subject`. */
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
    const reply = input.enter(m) ?? '-';
    const recorded = m.types();
    const met = recorded.length === 0 ? reply : `${reply}: ${recorded.join(' ')}`;
    expect(met, met).toBe(expected);
    if (recorded.length === 0) expect(m.state).toEqual(before);
    expectInvariants(m);
    // Again: a second input may get any reply, but corrupts nothing.
    input.enter(m);
    expectInvariants(m);
  }
}
