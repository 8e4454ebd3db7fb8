/** The answers of the person as sentences. Pure. */
import type { ExtendVerdict } from 'colloquy/browser';
import type { WorklistItem } from 'colloquy/browser/worklist';
import { problemSentence, type Sentence, verdictSentence } from 'colloquy/react';
import { type OutgoingAnswer, URGENT_MS } from './outbox.js';
import { nameOf } from './rows.js';

/** A request without an answer for so long is worth a word. */
const SLOW_MS = 2_000;

/** The sentence on an answer on its way. */
export function answerSentence(answer: OutgoingAnswer, now: number): Sentence {
  const { state, verdict, problem, resolution, sendAt } = answer;
  if (state === 'held') return kept('Will be sent in a moment.');
  if (verdict !== undefined) return verdictSentence(verdict, resolution.type, now);
  if (state === 'failed' && problem !== undefined) return problemSentence(problem);
  if (now - sendAt > SLOW_MS)
    return kept('No answer from the API yet; it is asked again until there is one.');
  const isUrgent = Date.parse(answer.deadline) - sendAt < URGENT_MS;
  return kept(isUrgent ? 'Sent at once: the deadline is near.' : 'Sent.');
}

/** The sentence on the answers of one decision: equal sentences are counted. */
export function groupSentence(answers: readonly OutgoingAnswer[], now: number): Sentence {
  const counts = new Map<string, number>();
  const tones = new Set<Sentence['tone']>();
  for (const answer of answers) {
    const { text, tone } = answerSentence(answer, now);
    counts.set(text, (counts.get(text) ?? 0) + 1);
    tones.add(tone);
  }
  const text = [...counts].map(([one, count]) => `${count}: ${one}`).join(' · ');
  return { text, tone: tones.has('bad') ? 'bad' : tones.has('kept') ? 'kept' : 'good' };
}

/** One sentence for a screen reader, on a call that is new; `more`: the number of others that came with it. */
export function newsSentence(item: WorklistItem, more: number): string {
  const { requesters, risk, deadline } = item;
  const parts = [
    `New: ${plain(nameOf(item))}`,
    ...(risk === undefined ? [] : [`${risk} risk`]),
    ...(requesters.length === 0 ? [] : [`for ${plain(requesters.join(' and '))}`]),
    `until ${new Date(deadline).toLocaleTimeString()}`,
    ...(more === 0 ? [] : [`and ${more} more`]),
  ];
  return `${parts.join(', ')}.`;
}

/** Without ends of sentences and line breaks, bounded. */
function plain(text: string): string {
  const line = text
    .replace(/[.!?]+(?=\s|$)/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > 120 ? `${line.slice(0, 120)}…` : line;
}

/** The sentence on a moved deadline. */
export function extendSentence(verdict: ExtendVerdict, now: number): Sentence {
  switch (verdict.verdict) {
    case 'accepted':
      return good(`Waits until ${new Date(verdict.deadline).toLocaleString()}`);
    case 'duplicate':
      return extendSentence(verdict.first, now);
    default:
      return verdictSentence(verdict, 'answer', now);
  }
}

function good(text: string): Sentence {
  return { text, tone: 'good' };
}

function kept(text: string): Sentence {
  return { text, tone: 'kept' };
}
