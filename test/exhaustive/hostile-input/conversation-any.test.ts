/** Any JSON may come over the wire, and any value in process: nothing throws, nothing is corrupted. */

import { beforeAll, describe, expect, it } from 'vitest';
import { plainInput } from '../../../src/core/input/plain-input.js';
import { isSignal, isVerb, VERBS } from '../../../src/core/verbs/table.js';
import { actorFrom } from '../../../src/protocol/values/actors.js';
import { UNDECODABLE } from '../../../src/protocol/workflow/messaging.js';
import {
  APPROVE,
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
} from '../../support/builders/core-builders.js';
import { closeConversation, resolve } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import { expectInvariants } from '../../support/schedules/core-invariants.js';

function deep(levels: number): unknown {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}
/** Deeper than any stack. */
const DEEPEST = deep(100_000);

function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}
/** Small to write, 2^60 values when unfolded. */
function shared(): unknown {
  let value: unknown = [1];
  for (let level = 0; level < 60; level += 1) value = [value, value];
  return value;
}
function throwing(...keys: string[]): unknown {
  const value = {};
  for (const key of keys)
    Object.defineProperty(value, key, {
      enumerable: true,
      get: () => {
        throw new Error(`read ${key}`);
      },
    });
  return value;
}
function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
const FIELDS = [
  'text',
  'toolCallId',
  'resolution',
  'requestId',
  'actor',
  'turnId',
  'receivedAt',
  'agent',
  'reason',
  'argsDigest',
  'onBusy',
];

const GARBAGE: readonly [string, () => unknown][] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['zero', () => 0],
  ['minus zero', () => -0],
  ['NaN', () => Number.NaN],
  ['infinity', () => Number.POSITIVE_INFINITY],
  ['a BigInt', () => 10n ** 40n],
  ['a symbol', () => Symbol('x')],
  ['the empty string', () => ''],
  ['a string', () => 'approve'],
  ['a lone surrogate', () => '\ud800'],
  ['a string with NUL', () => 'a\u0000b'],
  ['a huge string', () => 'x'.repeat(270_000)],
  ['the sentinel of an undecodable payload', () => UNDECODABLE],
  ['an empty list', () => []],
  ['a list of nulls', () => [null, undefined, null]],
  ['a sparse list', () => new Array<unknown>(2 ** 32 - 1)],
  ['a list with holes', () => [, 1, ,]],
  ['an empty object', () => ({})],
  [
    'an object without a prototype',
    () => Object.assign(Object.create(null) as object, { type: 'approve', text: 'x' }),
  ],
  ['nesting of 100', () => deep(100)],
  ['nesting of 10,000', () => deep(10_000)],
  ['nesting of 100,000', () => DEEPEST],
  [
    'nesting of 10,000 as the wire brings it',
    () => JSON.parse('['.repeat(10_000) + ']'.repeat(10_000)) as unknown,
  ],
  ['a cycle', cyclic],
  [
    'an own __proto__ key',
    () => JSON.parse('{"__proto__": {"type": "approve"}, "constructor": 1}') as unknown,
  ],
  ['the name __proto__', () => '__proto__'],
  ['the name constructor', () => 'constructor'],
  ['a getter that throws', () => throwing('x', ...FIELDS)],
  ['a revoked proxy', revoked],
  ['a function', () => () => 'x'],
  ['a class', () => class Foo {}],
  ['a date', () => new Date(0)],
  ['a map', () => new Map([['type', 'approve']])],
  ['a set', () => new Set([1])],
  ['bytes', () => new Uint8Array(8)],
  ['a regular expression', () => /x/],
  ['an error', () => new Error('x')],
  ['a promise', () => Promise.resolve(1)],
  ['a boxed string', () => Object('approve') as unknown],
  [
    'an object that turns itself into JSON',
    () => ({
      toJSON: () => 'x',
      toString: () => {
        throw new Error('no');
      },
    }),
  ],
  [
    'a thousand keys',
    () => Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index])),
  ],
];

/** The garbage as the whole input, in each field alone, and inside a resolution. */
function inputsOf(garbage: unknown): readonly unknown[] {
  const valid = {
    text: 'hi',
    toolCallId: 'q',
    resolution: answer(1),
    turnId: 'turn_x',
    onBusy: 'queue',
  };
  return [
    garbage,
    ...FIELDS.map((field) => ({ ...valid, [field]: garbage })),
    { ...valid, resolution: { type: 'answer', value: garbage } },
    { ...valid, resolution: { type: 'answer', value: { a: [garbage] } } },
    { ...valid, resolution: { type: garbage, value: 1 } },
    { ...valid, resolution: { type: 'decline', reason: garbage } },
    { ...valid, toolCallId: 'g', resolution: { type: 'approve', input: garbage } },
    {
      ...valid,
      actor: { id: garbage, roles: garbage, name: garbage, channel: garbage, verified: garbage },
    },
    { ...valid, actor: { id: 'x', roles: [garbage, 'r'], extra: garbage } },
    { ...valid, extra: garbage },
  ];
}

const machines: readonly [string, () => MachineUnderTest][] = [
  ['idle', () => aMachine({ settings: { onBusy: 'queue' } })],
  [
    'waiting',
    () =>
      aMachineWith(
        modelCalls([
          plannedCall('q', { executor: 'human' }),
          gatedCall('g'),
          plannedCall('s'),
          gatedCall('__proto__'),
          gatedCall('constructor'),
        ]),
        { settings: { onBusy: 'queue' } },
      ),
  ],
  [
    'closed',
    () => {
      const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
      closeConversation(m.machine);
      return m;
    },
  ],
];

const verbs = Object.keys(VERBS).filter(isVerb);
const entries: readonly [string, (m: MachineUnderTest, input: unknown) => unknown][] = [
  ...verbs.flatMap((name): typeof entries => [
    [name, (m, input) => m.machine.take(name, input)],
    [`the validator of ${name}`, (m, input) => m.machine.refusalOf(name, input)],
  ]),
  ...verbs
    .filter(isSignal)
    .map((name): (typeof entries)[number] => [
      `the signal ${name}`,
      (m, input) => m.machine.takeSignal(name, input),
    ]),
];

describe('a conversation that is', () => {
  for (const [phase, build] of machines)
    for (const [entry, enter] of entries)
      it(`${phase} survives every input by ${entry}`, () => {
        let m = build();
        const untouched = m.events.length;
        for (const [name, make] of GARBAGE)
          for (const input of inputsOf(make())) {
            try {
              enter(m, input);
            } catch (error) {
              throw new Error(`${name} was thrown at`, { cause: error });
            }
            if (m.events.length === untouched) continue;
            expectInvariants(m);
            m = build();
          }
        expectInvariants(m);
      });
});

describe('the accepted part of a hostile input', () => {
  let m: MachineUnderTest;
  beforeAll(() => {
    m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' }), gatedCall('g')]));
  });

  it('is only what JSON can carry: an answer that JSON would change is refused', () => {
    for (const value of [
      new Date(0),
      new Map(),
      Number.NaN,
      10n,
      () => 1,
      cyclic(),
      deep(10_000),
      { a: Symbol('x') },
      [undefined],
      shared(),
    ])
      expect(
        resolve(m.machine, { toolCallId: 'q', resolution: { type: 'answer', value } }),
      ).toMatchObject({
        verdict: 'invalid',
        problems: [{ path: '/resolution/value', message: 'must be JSON, nested at most 64 deep' }],
      });
  });

  it('is a copy: a later change to the answer does not change the record', () => {
    const value = { sizes: [1], left: undefined, zero: -0 };
    resolve(m.machine, { toolCallId: 'q', resolution: { type: 'answer', value } });
    value.sizes.push(2);
    expect(m.last('tool_result').result.envelope).toStrictEqual({
      ok: true,
      result: { sizes: [1], zero: 0 },
    });
  });

  it('leaves prototypes alone', promise('G130'), () => {
    const resolution = JSON.parse('{"type":"approve","__proto__":{"polluted":true}}') as unknown;
    expect(resolve(m.machine, { toolCallId: 'g', resolution })).toMatchObject({
      verdict: 'invalid',
      problems: [{ path: '/resolution/__proto__' }],
    });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(m.resolve('g', APPROVE)).toMatchObject({ verdict: 'accepted' });
  });

  it('never makes an unverified sender a verified one, or any sender the system', () => {
    const claims: [unknown, unknown][] = [
      [
        { id: 'boss', verified: true },
        { id: 'boss', verified: false, channel: 'temporal' },
      ],
      [
        { id: 'system', verified: true, channel: 'system' },
        { id: 'system', verified: false, channel: 'temporal' },
      ],
      [
        { id: 'boss', verified: true, channel: 'temporal' },
        { id: 'boss', verified: false, channel: 'temporal' },
      ],
      [{ verified: true }, { id: 'anonymous', verified: false, channel: 'temporal' }],
    ];
    for (const [claimed, recorded] of claims)
      expect(actorFrom(plainInput(claimed))).toEqual(recorded);
  });
});
