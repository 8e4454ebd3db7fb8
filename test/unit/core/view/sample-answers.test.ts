/** The actor of a sample answer, the hint to edit it, and the words for those who may answer. */
import { describe, expect, it } from 'vitest';
import {
  type AnsweredCall,
  audienceWords,
  labelText,
  sampleAnswer,
  whoMayAnswer,
  whyTakenBack,
} from '../../../../src/core/view/sample-answer.js';
import { type Audience, REQUESTER } from '../../../../src/protocol/values/audience.js';

const call = (more: Partial<AnsweredCall> = {}): AnsweredCall => ({
  ...{ toolCallId: 'c', kind: 'approval', argsDigest: 'd', ...more },
});
const actorFor = (audience: Audience, requesters: readonly string[] = []) =>
  sampleAnswer(call({ audience }), requesters)?.answer.actor;

describe('the actor of a sample', () => {
  it.each<[string, Audience, readonly string[], object | undefined]>([
    ['anybody', {}, [], { id: 'operator' }],
    ['a user', { users: ['ann', 'ben'] }, [], { id: 'ann' }],
    ['a role', { roles: ['lead', 'boss'] }, [], { id: 'operator', roles: ['lead'] }],
    ['a user first', { users: ['ann'], roles: ['lead'] }, [], { id: 'ann' }],
    ['not the requester', { exclude: [REQUESTER] }, ['operator'], { id: 'operator-2' }],
    ['a third person', { exclude: [REQUESTER] }, ['operator', 'operator-2'], { id: 'operator-3' }],
    [
      'a user who has not asked',
      { users: ['ann', 'ben'], exclude: [REQUESTER] },
      ['ann'],
      { id: 'ben' },
    ],
    [
      'both conditions',
      { roles: ['lead'], also: [{ roles: ['audit'] }] },
      [],
      { id: 'operator', roles: ['lead', 'audit'] },
    ],
    ['verified people alone', { requireVerified: true }, [], undefined],
  ])('is admitted by %s', (_title, audience, requesters, actor) => {
    expect(actorFor(audience, requesters)).toEqual(actor);
  });

  it('is the holder of the call where it is claimed', () => {
    const claim = { claimId: 'k', by: 'cleo', until: '' } as never;
    expect(sampleAnswer(call({ claim }), [])?.answer).toMatchObject({
      ...{ claimId: 'k', actor: { id: 'cleo' } },
    });
  });
});

describe('a sample', () => {
  it('has the digest of a question, or of a revision, and of nothing else', () => {
    const digest = (more: Partial<AnsweredCall>) => sampleAnswer(call(more), [])?.answer.argsDigest;
    expect(digest({})).toBeUndefined();
    expect(digest({ ask: 1 })).toBe('d');
    expect(digest({ revised: true })).toBe('d');
  });

  it('of a lost run is an outcome, and says what to put', () => {
    const made = sampleAnswer(call({ kind: 'outcome' }), []);
    expect(made?.answer.resolution).toEqual({ type: 'outcome', value: {} });
    expect(made?.hint).toContain('in place of `{}`');
  });

  it('says what is wrong with it, and that a worker judges more', () => {
    const hint = (answerSchema: object | undefined) =>
      sampleAnswer(call({ kind: 'external_execution', answerSchema } as never), [])?.hint;
    const edit = 'the value is a sample: put the real one in its place';
    expect(hint(undefined)).toBe(edit);
    expect(hint({ type: 'boolean' })).toMatch(new RegExp(`^${edit}. Its form: .*boolean`));
    expect(hint({ type: 'string', minLength: 2_000 })).toMatch(/which as it stands .+ Its form: /);
    expect(hint({ type: 'string', pattern: '^[a-z ]+$' })).toContain(
      '. Its form, and a worker judges it by all of it: ',
    );
  });

  it('is no longer than can be edited', () => {
    const value = (least: number) => {
      const answerSchema = { type: 'string', minLength: least };
      const made = sampleAnswer(call({ kind: 'elicitation', answerSchema }), []);
      const { resolution } = made?.answer ?? {};
      return resolution?.type === 'answer' ? JSON.stringify(resolution.value).length : undefined;
    };
    expect(value(598)).toBe(600);
    expect(value(599)).toBe('"an answer"'.length);
  });
});

describe('the words for an audience', () => {
  it.each<[Audience | undefined, string]>([
    [undefined, 'anybody'],
    [{}, 'anybody'],
    [{ users: ['ann', 'ben'] }, 'user ann, ben'],
    [{ users: ['ann'], roles: ['lead'] }, 'user ann or role lead'],
    [{ roles: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'role a, b, c, d, e, f'],
    [{ roles: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] }, 'role a, b, c, d, e, f, … 2 more'],
    [{ exclude: [REQUESTER] }, 'anybody, but not the requester'],
    [{ exclude: ['ann', REQUESTER] }, 'anybody, but not the requester, but not ann'],
    [{ roles: ['lead'], requireVerified: true }, 'role lead, and verified'],
    [{ roles: ['a'], also: [{ users: ['b'] }] }, 'role a; and user b'],
    [
      { roles: ['a'], also: [{ roles: ['b'] }, { roles: ['c'] }] },
      'role a; and role b; and role c',
    ],
    [
      { roles: ['a'], also: [{ roles: ['b'] }, { roles: ['c'], also: [{ roles: ['d'] }] }] },
      'role a; and role b; and role c; and … 1 more conditions',
    ],
  ])('%j', (audience, words) => {
    expect(audienceWords(audience)).toBe(words);
  });

  it('show names as text, and cut those that are long', () => {
    expect(audienceWords({ users: ['x'.repeat(100)] }).length).toBeLessThanOrEqual(5 + 60);
    expect(whoMayAnswer({ audience: { users: ['ann'] } })).toMatch(/^user .*ann/);
    const claim = { claimId: 'k', by: 'cleo', until: '' } as never;
    expect(whoMayAnswer({ audience: { roles: ['lead'] }, claim })).toMatch(
      /^only .*cleo.*, who holds the call \(role .*lead.*\)$/,
    );
  });
});

it('title and risk stand behind the name of a tool, where it has them', () => {
  expect(labelText({})).toBe('');
  expect(labelText({ risk: 'high' })).toBe(', high risk');
  expect(labelText({ title: 'Refund', risk: 'low' })).toMatch(/^, .*Refund.*, low risk$/);
});

it('an answer that was taken back is explained', () => {
  expect(whyTakenBack({})).toEqual([]);
  const reverted = (problems: readonly object[]) =>
    whyTakenBack({ reverted: { requestId: 'r', problems } as never });
  expect(reverted([])).toEqual([expect.stringContaining('it was refused')]);
  expect(reverted([{ path: '', message: 'no such order' }])).toEqual([
    expect.stringMatching(/^an answer was taken back: .*no such order/),
  ]);
});
