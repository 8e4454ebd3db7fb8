/** The options of `colloquy resolve`, and the commands made of them. */
import { describe, expect, it } from 'vitest';
import { commandFor, resolutionOf } from '../../../src/cli/conversations/answer-flags.js';
import type { PendingCall } from '../../../src/protocol/calls/suspensions.js';

describe('an answer', () => {
  it.each([
    [{ approve: true }, { type: 'approve' }],
    [
      { approve: true, input: '{"a":1}' },
      { type: 'approve', input: { a: 1 } },
    ],
    [{ deny: true }, { type: 'deny' }],
    [{ deny: 'no' }, { type: 'deny', reason: 'no' }],
    [{ answer: '7' }, { type: 'answer', value: 7 }],
    [{ decline: 'later' }, { type: 'decline', reason: 'later' }],
    [{ result: 'null' }, { type: 'result', value: null }],
    [{ error: 'broken' }, { type: 'error', message: 'broken' }],
    [{ resolution: '{"type":"outcome","value":1}' }, { type: 'outcome', value: 1 }],
  ] as const)('is read from %j', (flags, resolution) => {
    expect(resolutionOf(flags)).toEqual(resolution);
  });

  it.each([
    [{}, 'exactly one of'],
    [{ approve: true, answer: '1' }, 'exactly one of'],
    [{ result: '{' }, '--result must be JSON'],
    [{ deny: true, input: '1' }, '--input edits the input of a call: it needs --approve'],
  ] as const)('of %j is refused with the rule', (flags, rule) => {
    expect(() => resolutionOf(flags)).toThrow(rule);
  });
});

describe('the command for a call', () => {
  const call = { ref: 'default~c~call_1' } as PendingCall;
  const answer = {
    toolCallId: 'call_1',
    argsDigest: undefined,
    claimId: undefined,
    actor: { id: "o'neil", roles: ['lead'] },
  };

  it.each([
    [{ type: 'approve' }, '--approve'],
    [{ type: 'answer', value: "it's" }, `--answer '"it\\u0027s"'`],
    [{ type: 'result', value: {} }, "--result '{}'"],
    [{ type: 'outcome', value: 1 }, `--resolution '{"type":"outcome","value":1}'`],
  ] as const)('answers it by %j', (resolution, flag) => {
    const command = commandFor(call, { ...answer, resolution });
    expect(command).toBe(`colloquy resolve default~c~call_1 ${flag}`);
  });

  it('quotes a ref of a call whose id a shell would read otherwise', () => {
    const odd = { ref: "default~c~call(1)'" } as PendingCall;
    const command = commandFor(odd, { ...answer, resolution: { type: 'approve' } });
    expect(command).toBe("colloquy resolve 'default~c~call(1)'\\''' --approve");
  });

  it('names the person, the claim and the digest where they are needed', () => {
    const held = { ...call, audience: { roles: ['lead'] } };
    const bound = { ...answer, argsDigest: 'sha256:a', claimId: 'k1' };
    expect(commandFor(held, { ...bound, resolution: { type: 'approve' } })).toBe(
      "colloquy resolve default~c~call_1 --approve --digest sha256:a --claim k1 --as 'o'\\''neil' --role lead",
    );
  });
});
