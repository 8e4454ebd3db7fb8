/** The words of the operations page. */
import { describe, expect, it } from 'vitest';
import {
  buildWords,
  compared,
  comparedWords,
  missingWords,
  passWords,
} from '../../../web/operations/model/words.js';

function waiting(...refs: readonly string[]) {
  return { calls: new Map(refs.map((ref) => [ref, `of-${ref}`])), more: false };
}

describe('the calls before and after a kill', () => {
  it.each([
    [
      ['a', 'b'],
      ['b', 'a'],
      'Before: 2 calls waited. After: the same 2 calls wait. Nothing was lost.',
    ],
    [
      ['a'],
      ['a', 'c'],
      'Before: 1 call waited. After: the same 1 call waits. Nothing was lost. 1 call began to wait meanwhile.',
    ],
    [
      ['a', 'b'],
      ['b'],
      'Before: 2 calls waited. After: 1 of them waits; the others were answered or have ended meanwhile, as their conversations show.',
    ],
  ])('%j and %j', (before, after, words) => {
    expect(comparedWords(compared(waiting(...before), waiting(...after)))).toBe(words);
  });

  it('names the conversations whose calls have ended', () => {
    expect(compared(waiting('a', 'b'), waiting()).ended).toEqual(['of-a', 'of-b']);
  });
});

it('says of a pass what an operator should read', () => {
  const pass = {
    at: '',
    tookMs: 1,
    checked: 3,
    asked: 1,
    found: 0,
    gone: 0,
    endedSilently: 0,
    failed: 0,
  };
  expect(passWords(pass)).toBe('3 compared, 1 read again, 0 brought in');
  expect(passWords({ ...pass, gone: 2, failed: 1 })).toMatch(
    /2 not known to Temporal, 1 not answered$/,
  );
});

it('shows the start of a long build, and the deployment of a versioned one', () => {
  const worker = { identity: 'w', state: 'up', polls: [] } as const;
  expect(buildWords(worker)).toBe('-');
  expect(buildWords({ ...worker, buildId: 'x'.repeat(30) })).toBe(`${'x'.repeat(20)}…`);
  expect(buildWords({ ...worker, buildId: '7', deployment: 'shop' })).toBe('7 of shop');
  expect(missingWords({ status: 'unavailable', reason: 'down' })).toBe('Not known now: down');
});
