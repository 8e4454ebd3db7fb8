/**
 * Ids, refs, workflow ids, cursors and tool names: each is read back as it was written, and no other text is taken
 * for one.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCursor, parseCursor } from '../../../../src/protocol/values/cursor.js';
import {
  chainOf,
  conversationKey,
  formatRef,
  idempotencyKeyFor,
  idProblem,
  isEarlierTurn,
  isUsableCallId,
  parseRef,
  parseWorkflowId,
  requestIdProblem,
  turnIdFor,
  workflowIdFor,
} from '../../../../src/protocol/values/ids.js';
import {
  fromWireName,
  toolNameProblem,
  toWireName,
} from '../../../../src/protocol/values/tool-names.js';
import { updateIdFor } from '../../../../src/protocol/workflow/update-ids.js';
import { promise } from '../../../support/promise.js';

const id = fc.stringMatching(/^[A-Za-z0-9_.-]{1,128}$/);
const callId = fc.stringMatching(/^[A-Za-z0-9_.:|~-]{1,128}$/);
const anyText = fc.string({ unit: 'binary' });

describe('an id', () => {
  it('has letters, digits, "_", "." and "-", and the problem names the fault of any other', () => {
    fc.assert(
      fc.property(id, (value) => {
        expect(idProblem('tenant', value)).toBeUndefined();
      }),
    );
    for (const value of [
      '',
      'a b',
      'a:b',
      'a/b',
      'a~b',
      'ü',
      'x'.repeat(129),
      7,
      null,
      undefined,
      'a\n',
    ])
      expect(idProblem('tenant', value)).toMatch(/^tenant m(ust|ay) /);
  });

  it('of a request may be any short text', () => {
    for (const value of ['job:7', 'a b', 'ü', 'x'.repeat(200)])
      expect(requestIdProblem('requestId', value)).toBeUndefined();
    for (const value of ['', 'x'.repeat(201), 7, null])
      expect(requestIdProblem('requestId', value)).toBeTypeOf('string');
  });

  it('of a call from a provider is kept when it is short and plain', () => {
    fc.assert(
      fc.property(callId, (value) => {
        expect(isUsableCallId(value)).toBe(true);
      }),
    );
    for (const value of ['', 'x'.repeat(129), 'a b', 'a/b', 'a%b', 'ü'])
      expect(isUsableCallId(value)).toBe(false);
  });
});

describe('a workflow id', () => {
  it('names its conversation, and no two share one', () => {
    fc.assert(
      fc.property(id, id, (tenant, conversationId) => {
        const key = { tenant, conversationId };
        expect(parseWorkflowId(workflowIdFor(key))).toEqual(key);
        expect(conversationKey(key)).toBe(`${tenant}/${conversationId}`);
      }),
    );
  });

  it("of another workflow is not one of the engine's", () => {
    for (const text of [
      '',
      'conversation',
      'conversation:a',
      'conversation:a:',
      'conversation::b',
      'conversation:a:b:c',
      'order:a:b',
      'conversation:a b:c',
    ])
      expect(parseWorkflowId(text)).toBeUndefined();
    fc.assert(
      fc.property(anyText, (text) => {
        const key = parseWorkflowId(text);
        expect(key === undefined || workflowIdFor(key) === text).toBe(true);
      }),
    );
  });
});

describe('a ref', () => {
  it('names its call, for any call id, and survives a URL', {
    ...promise('A25', 'A34', 'H41'),
  }, () => {
    fc.assert(
      fc.property(
        id,
        id,
        fc.oneof(callId, fc.string({ unit: 'grapheme', minLength: 1 })),
        (tenant, conversationId, toolCallId) => {
          const ref = { tenant, conversationId, toolCallId };
          const text = formatRef(ref);
          expect(parseRef(text)).toEqual(ref);
          expect(parseRef(decodeURIComponent(encodeURIComponent(text)))).toEqual(ref);
        },
      ),
    );
  });

  it('that is malformed is undefined, never an exception', () => {
    for (const text of [
      '',
      'a',
      'a~b',
      'a~b~',
      '~b~c',
      'a~~c',
      'a b~c~d',
      'a~b~%',
      'a~b~%zz',
      'a~b~%ff',
    ])
      expect(parseRef(text)).toBeUndefined();
    fc.assert(
      fc.property(anyText, (text) => {
        parseRef(text);
      }),
    );
  });
});

describe('turn ids and idempotency keys', () => {
  it('differ between incarnations of a conversation, and between calls', () => {
    const first = chainOf('0199a1b2-c3d4-7000-8123-456789abcdef');
    const second = chainOf('0199a1b2-c3d4-7000-8123-456789abcdee');
    expect(first).toBe('456789abcdef');
    expect(turnIdFor(first, 1)).not.toBe(turnIdFor(second, 1));
    expect(turnIdFor(first, 1)).not.toBe(turnIdFor(first, 11));
    expect(turnIdFor(first, 1, 'a1b2')).toBe('turn_456789abcdef_1_a1b2');
  });

  it('have the order in which the turns of a chain came, by number; others have none', () => {
    const ordinal = fc.integer({ min: 1, max: 20_000 });
    const token = fc.option(fc.stringMatching(/^[a-f0-9]{6}$/), { nil: undefined });
    fc.assert(
      fc.property(ordinal, token, ordinal, token, (one, oneToken, other, otherToken) => {
        const id = turnIdFor('456789abcdef', one, oneToken);
        const than = turnIdFor('456789abcdef', other, otherToken);
        expect(isEarlierTurn(id, than)).toBe(one < other);
        expect(isEarlierTurn(id, turnIdFor('456789abcdee', other, otherToken))).toBe(false);
      }),
    );
    for (const than of ['', 't2', 'turn_a', 'turn_a_b', 'turn_a_2.1', 'turn_a_2_x_y', undefined])
      expect(isEarlierTurn('turn_a_1', than)).toBe(false);
  });

  it('give each call a key that changes with its turn, step, id and arguments, and with nothing else', {
    ...promise('A47'),
  }, () => {
    const key = { tenant: 'default', conversationId: 'order-42' };
    const call = {
      turnId: 'turn_a_1',
      step: 2,
      toolCallId: 'c1',
      argsDigest: `sha256:${'ab'.repeat(32)}`,
    };
    expect(idempotencyKeyFor(key, call)).toBe('default/order-42/turn_a_1.2/c1/abababababababab');
    const others = [
      { ...call, turnId: 'turn_a_2' },
      { ...call, step: 3 },
      { ...call, toolCallId: 'c2' },
      { ...call, argsDigest: `sha256:${'cd'.repeat(32)}` },
      { ...call, argsDigest: undefined },
    ];
    const keys = [call, ...others].map((each) => idempotencyKeyFor(key, each));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('a cursor', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.nat(1e9), (generation, seq) => {
        expect(parseCursor(formatCursor({ generation, seq }))).toEqual({ generation, seq });
      }),
    );
  });

  it('that a browser made up is undefined', () => {
    for (const text of [
      '',
      '1',
      '0-1',
      '-1-1',
      '1-',
      '1-x',
      '1-1-1',
      ' 1-1',
      '1-1\n',
      '1e3-1',
      '9'.repeat(20) + '-1',
    ])
      expect(parseCursor(text)).toBeUndefined();
  });
});

describe('a tool name', () => {
  const segment = fc.stringMatching(/^[A-Za-z0-9-]{1,6}(_[A-Za-z0-9-]{1,5})?$/);
  const name = fc
    .array(segment, { minLength: 1, maxLength: 4 })
    .map((segments) => segments.join('.'));

  it('is legal for every provider on the wire, and is read back as it was', {
    ...promise('C3', 'N9'),
  }, () => {
    fc.assert(
      fc.property(name, (own) => {
        expect(toolNameProblem(own)).toBeUndefined();
        expect(toWireName(own)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(fromWireName(toWireName(own))).toBe(own);
      }),
    );
  });

  it('shares its wire name with no other name that is allowed', promise('C3', 'X15', 'N9'), () => {
    const close = fc.stringMatching(/^[ab._]{1,8}$/);
    fc.assert(
      fc.property(close, close, (left, right) => {
        if (toolNameProblem(left) !== undefined || toolNameProblem(right) !== undefined) return;
        expect(toWireName(left) === toWireName(right)).toBe(left === right);
      }),
      { numRuns: 2_000 },
    );
  });

  it('that would not be read back is refused', () => {
    for (const own of [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      'a__b',
      'a_',
      '_a',
      'a_.b',
      'a._b',
      'a b',
      'ü',
      'a/b',
      'x'.repeat(65),
      `${'a.'.repeat(22)}a`,
      7,
      null,
    ])
      expect(toolNameProblem(own)).toBeTypeOf('string');
  });
});

describe('an update id', () => {
  const parts = {
    operation: 'resolveToolCall',
    callId: 'c1',
    type: 'approve',
    actor: 'ann',
    requestId: 'r1',
  };

  it('is the same for the same request, and differs with any of its fields', () => {
    expect(updateIdFor(parts)).toBe(updateIdFor({ ...parts }));
    for (const field of Object.keys(parts))
      expect(updateIdFor({ ...parts, [field]: 'other' })).not.toBe(updateIdFor(parts));
    expect(updateIdFor({ operation: 'sendMessage', requestId: 'r1' })).not.toBe(
      updateIdFor({ operation: 'cancelTurn', requestId: 'r1' }),
    );
  });

  it('cannot be shifted from one field into the next', () => {
    expect(updateIdFor({ ...parts, callId: 'c1:approve', type: '' })).not.toBe(updateIdFor(parts));
  });

  it.each(['订', ':', '%'])(
    'of allowed parts that consist of "%s" fits the server',
    (character) => {
      const long = character.repeat(200);
      const written = updateIdFor({ ...parts, callId: long, actor: long, requestId: long });
      expect(Buffer.byteLength(written)).toBeLessThanOrEqual(1_000);
      expect(written).toMatch(/^resolveToolCall:/);
      for (const field of ['callId', 'type', 'actor', 'requestId'])
        expect(
          updateIdFor({
            ...{ ...parts, callId: long, actor: long, requestId: long },
            [field]: `${character.repeat(199)}x`,
          }),
        ).not.toBe(written);
    },
  );

  it('that fits the server is written out', () => {
    const requestId = 'r'.repeat(980);
    expect(updateIdFor({ operation: 'cancelTurn', requestId })).toBe(`cancelTurn::::${requestId}`);
  });
});
