/**
 * The model of the random schedules. The newest message lists its tool calls word for word, so every repeated request
 * gets the same answer. `do <label>: quick ask | cart` requests two tools in the first step, one in the second, and
 * then ends with `<label> is done`. Any other message is answered with `noted`.
 */
import type { ScriptCall } from '../../../../examples/demo/script.js';
import type { Scenario } from '../scenario-model.js';

/** Words that are not tools of the juggler. */
export const ODD_WORDS = ['nobody', 'half', 'misfit'] as const;
/** Prefixes of a message's label: the answer comes slowly, at the second attempt, or never. */
export const MOODS = ['slowly ', 'flaky ', 'broken '] as const;

const MESSAGE = /^do (?:(slowly|flaky|broken) )?(\S+):(.*)$/;

export const juggle: Scenario = ({ userTexts, results }, ask) => {
  const [, mood, label = '', plan] = MESSAGE.exec(userTexts.at(-1) ?? '') ?? [];
  if (plan === undefined) return { text: 'noted' };
  if (mood === 'broken') return { failure: { status: 400, message: 'broken' } };
  if (mood === 'flaky' && ask === 1) return { failure: { status: 503, message: 'flaky' } };
  const steps = plan.split('|').map((step) => step.split(' ').filter((word) => word !== ''));
  let before = 0;
  for (const [step, words] of steps.entries()) {
    if (words.length > 0 && before === results.length)
      return {
        text: `step ${step} of ${label} is about ${words.join(' and ')}`,
        calls: words.map((word, index) => callOf(word, `${label}.${step}.${index}`)),
        ...(mood === 'slowly' ? { chunkDelayMs: 15 } : {}),
      };
    before += words.length;
  }
  return { text: `${label} is done`, ...(mood === 'slowly' ? { chunkDelayMs: 60 } : {}) };
};

function callOf(word: string, label: string): ScriptCall {
  if (word === 'half') return { name: 'quick', input: '{"label": "' };
  if (word === 'delegate') return { name: word, input: { task: `do ${label}: nap hasty` } };
  if (word === 'misfit') return { name: 'quick', input: { label: 7 } };
  return { name: word, input: { label } };
}
