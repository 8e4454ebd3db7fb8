/** The chat in words: states, sentences for screen readers, folded texts, files. */
import type { CallView, NestedPendingView, PendingView, UserMessageView } from 'colloquy/browser';
import { describe, expect, it } from 'vitest';
import { attachmentOf, attachmentWords, fileProblem } from '../../../../web/chat/model/files.js';
import { foldedText } from '../../../../web/chat/model/folds.js';
import {
  answerSentence,
  callWords,
  endWords,
  messageWords,
  nestedElsewhere,
  newCallSentence,
  otherPending,
  pathWords,
  writerWords,
} from '../../../../web/chat/model/words.js';

describe('a message', () => {
  it.each([
    [{ state: 'sending' }, 'on its way'],
    [{ state: 'accepted' }, 'taken, not in the log yet'],
    [{ state: 'queued' }, 'waits for the running turn to end'],
    [{ state: 'queued', onBusy: 'queue' }, 'waits for the running turn to end'],
    [{ state: 'sent', onBusy: 'queue' }, ''],
    [{ state: 'sent', onBusy: 'steer' }, 'joined the turn that was running'],
    [{ state: 'queued', onBusy: 'interrupt' }, 'stopped the turn that was running'],
    [{ state: 'sent' }, ''],
    [{ state: 'failed' }, 'not sent'],
  ] as const)('%j: %s', (message, words) => {
    expect(messageWords(message as UserMessageView)).toBe(words);
  });

  it('of the agent that is cut, or not its own, says so', () => {
    const message = { role: 'assistant', text: '' } as never as Parameters<typeof writerWords>[0];
    expect(writerWords(message)).toBe('');
    expect(writerWords({ ...message, partial: true })).toBe('stopped here');
    expect(writerWords({ ...message, synthetic: true })).toMatch(/engine/);
  });

  it('is folded at the end of a paragraph, where it is long', () => {
    expect(foldedText('short')).toBeUndefined();
    expect(foldedText('a'.repeat(3_000))).toBeUndefined();
    const folded = foldedText(`${'a'.repeat(1_000)}\n\n${'b'.repeat(3_000)}`);
    expect(folded).toBe('a'.repeat(1_000));
    expect(foldedText('line\n'.repeat(61))?.split('\n').length).toBeLessThanOrEqual(30);
    const pairs = foldedText(`a${'😀'.repeat(2_000)}`) ?? '';
    expect(pairs).toMatch(/[\uDC00-\uDFFF]$/);
  });
});

describe('a call', () => {
  const call = {
    ...{ kind: 'approval', name: 'pay', ref: 'r', toolCallId: 'c', reason: 'Money. Leaves!' },
    ...{ risk: 'high', deadline: '2030-01-01T00:00:00.000Z', state: 'waiting_for_you' },
  } as PendingView;

  it('that is new is one sentence', () => {
    const sentence = newCallSentence(call, 2);
    expect(sentence).toMatch(
      /^New approval: pay, Money Leaves, high risk, until [^.]+, and 2 more\.$/,
    );
    expect(newCallSentence({ ...call, title: 'a\n'.repeat(500) }, 0).length).toBeLessThan(250);
  });

  it('has its state in words', () => {
    expect(callWords({ state: 'waiting_for_you' } as CallView)).toBe('waits for you');
    expect(callWords({ state: 'running', detached: true } as CallView)).toMatch(/background/);
  });

  it('of a message that is not loaded is shown at the end', () => {
    const calls = [{ toolCallId: 'c' }];
    const loaded = { role: 'assistant', calls } as never;
    expect(otherPending({ messages: [loaded], pending: [call] })).toEqual([]);
    expect(otherPending({ messages: [], pending: [call] })).toEqual([call]);
  });

  it('of a sub-agent has its path, and is at the end where the message of its caller is not loaded', () => {
    const step = { conversationId: 'lead', toolCallId: 'c', name: 'research' };
    const deeper = { conversationId: 'child', toolCallId: 'd', name: 'buy' };
    const nested = { ...call, path: [step, deeper] } as never as NestedPendingView;
    expect(pathWords(nested.path)).toBe('research › buy');
    const loaded = { role: 'assistant', calls: [{ toolCallId: 'c' }] } as never;
    expect(nestedElsewhere({ messages: [loaded] }, [nested])).toEqual([]);
    expect(nestedElsewhere({ messages: [] }, [nested])).toEqual([nested]);
  });
});

it('the end of a turn is worth a word unless it is completed', () => {
  expect(endWords({ turnId: 't', status: 'completed' })).toBeUndefined();
  expect(endWords({ turnId: 't', status: 'cancelled' })).toBe('The turn was stopped.');
  const error = { code: 'model_failed', message: 'no answer' } as never;
  expect(endWords({ turnId: 't', status: 'failed', error })).toBe('The turn failed: no answer');
});

it('an answer is read on one line, bounded', () => {
  expect(answerSentence('a\n\nb')).toBe('The agent says: a b');
  expect(answerSentence('a'.repeat(10_000)).length).toBeLessThan(700);
});

describe('a file', () => {
  const blob = { id: 'f'.repeat(64), bytes: 1, type: 'application/octet-stream' } as const;

  it.each([
    [
      { name: 'a.png', type: 'image/png' },
      { type: 'image', mediaType: 'image/png' },
    ],
    [
      { name: 'a.svg', type: 'image/svg+xml' },
      { type: 'file', mediaType: 'image/svg+xml' },
    ],
    [
      { name: 'a', type: '' },
      { type: 'file', mediaType: 'application/octet-stream' },
    ],
    [
      { name: 'a', type: 'no type' },
      { type: 'file', mediaType: 'application/octet-stream' },
    ],
  ])('%j is sent as %j', (file, part) => {
    expect(attachmentOf(file, blob)).toMatchObject({ ...part, source: { blob } });
  });

  it('has a name of at most 255 characters', () => {
    const part = attachmentOf({ name: 'n'.repeat(300), type: 'text/plain' }, blob);
    expect(part.type === 'file' && part.filename?.length).toBe(255);
    expect(attachmentWords({ type: 'file', source: { blob }, filename: 'a.txt' })).toBe(
      'File: a.txt',
    );
  });

  it('is refused where the API would refuse it', () => {
    expect(fileProblem({ size: 1 }, 15)).toBeUndefined();
    expect(fileProblem({ size: 1 }, 16)).toMatch(/16 files/);
    expect(fileProblem({ size: 0 }, 0)).toMatch(/empty/);
    expect(fileProblem({ size: 16 * 1024 * 1024 + 1 }, 0)).toMatch(/16 MiB/);
  });
});
