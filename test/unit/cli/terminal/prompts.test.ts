import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runResolve } from '../../../../src/cli/conversations/answer-command.js';
import { runDelete } from '../../../../src/cli/operate/delete-command.js';
import { askCall, askResolution } from '../../../../src/cli/terminal/answer-prompt.js';
import {
  askText,
  askWord,
  givenOrAsked,
  isConfirmed,
  type Terminal,
} from '../../../../src/cli/terminal/prompts.js';

/** A person at a terminal who types these lines, each when a question was printed. */
function person(...lines: readonly string[]) {
  return streams(true, lines);
}

function streams(isTTY: boolean, lines: readonly string[]) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  const left = [...lines];
  const shown: string[] = [];
  output.on('data', (chunk: Buffer) => {
    shown.push(chunk.toString());
    if (!/: $/.test(chunk.toString())) return;
    const next = left.shift();
    if (next === undefined) input.end();
    else input.write(`${next}\n`);
  });
  const terminal: Terminal = { input, output };
  return { terminal, shown: () => shown.join('') };
}

const call = (ref: string, kind: 'approval' | 'elicitation' | 'client_execution') => ({
  ...{ ref, kind, name: 'refund', prompt: { amount: 5 } },
});

describe('a question at a terminal', () => {
  it('is asked again until the answer is one', async () => {
    const { terminal, shown } = person('', 'order-42');
    expect(await askText(terminal, 'Conversation: ')).toBe('order-42');
    expect(shown()).toBe('Conversation: It must not be empty.\nConversation: ');
  });

  it('takes a word by its beginning, unless others begin so, too', async () => {
    const { terminal, shown } = person('de', 'dec');
    expect(await askWord(terminal, 'Answer', ['deny', 'decline'])).toBe('decline');
    expect(shown()).toContain('It must be one of deny, decline.');
  });

  it('ends with an error when the input ends', async () => {
    await expect(askText(person().terminal, 'Message: ')).rejects.toThrow(
      'The input ended before the question was answered; nothing was done',
    );
  });

  it('is asked for a missing argument only, and never without a terminal', async () => {
    const missing = {
      question: 'Conversation: ',
      refuse: () => {
        throw new Error('missing');
      },
    };
    const at = person('order-42');
    expect(await givenOrAsked('given', missing, at.terminal)).toBe('given');
    expect(at.shown()).toBe('');
    expect(await givenOrAsked(undefined, missing, at.terminal)).toBe('order-42');
    const piped = streams(false, ['order-42']);
    await expect(givenOrAsked(undefined, missing, piped.terminal)).rejects.toThrow('missing');
    expect(piped.shown()).toBe('');
  });
});

describe('the answer to a call', () => {
  it.each([
    ['approval', ['approve'], { type: 'approve' }],
    ['approval', ['answer', 'deny', 'too much'], { type: 'deny', reason: 'too much' }],
    ['elicitation', ['decline', ''], { type: 'decline' }],
    ['elicitation', ['answer', 'yes', '{"a":1}'], { type: 'answer', value: { a: 1 } }],
    ['client_execution', ['error', 'no net'], { type: 'error', message: 'no net' }],
  ] as const)('that waits for %s is asked: %j', async (kind, lines, expected) => {
    const { terminal } = person(...lines);
    expect(await askResolution(terminal, { kind })).toEqual(expected);
  });

  it('is asked for the chosen call; the only one is not asked for', async () => {
    const calls = [call('a', 'approval'), call('b', 'elicitation')];
    const { terminal, shown } = person('3', '2');
    expect((await askCall(terminal, calls)).ref).toBe('b');
    expect(shown()).toContain('It must be a number from 1 to 2.');
    expect((await askCall(person().terminal, calls.slice(0, 1))).ref).toBe('a');
    await expect(askCall(person().terminal, [])).rejects.toThrow('No call waits');
  });

  it('is not asked for without a terminal', async () => {
    const { terminal } = streams(false, []);
    await expect(runResolve('ref', { retry: 0 }, terminal)).rejects.toThrow(
      /Say how to answer, by exactly one of --approve/,
    );
  });
});

describe('a deletion', () => {
  const flags = { tenant: 'acme', data: '/nowhere/to/be/found', retry: 0 };
  const reachesLog = 'No event log at /nowhere/to/be/found/log.db';

  it('is confirmed at a terminal, and no is the usual answer', async () => {
    for (const said of ['', 'no']) {
      const { terminal, shown } = person(said);
      await runDelete(flags, terminal);
      expect(shown()).toContain('Delete all conversations of tenant acme for good? (yes or no)');
      expect(shown()).toContain('Nothing was deleted.');
      expect(process.exitCode).toBe(1);
      process.exitCode = undefined;
    }
    await expect(runDelete(flags, person('yes').terminal)).rejects.toThrow(reachesLog);
  });

  it('is not asked about with --yes, nor without a terminal', async () => {
    for (const [given, at] of [
      [{ ...flags, yes: true }, person()],
      [flags, streams(false, [])],
    ] as const) {
      await expect(runDelete(given, at.terminal)).rejects.toThrow(reachesLog);
      expect(at.shown()).toBe('');
    }
    expect(await isConfirmed(person('maybe', 'y').terminal, 'Sure?', {})).toBe(true);
  });
});
