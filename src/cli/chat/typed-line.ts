/** Reads the lines of a chat: messages, and words that begin with a slash. */

import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import { type AnswerFlags, resolutionOf } from '../conversations/answer-flags.js';
import { ConfigError } from '../process/config.js';

export type Typed =
  | { readonly type: 'message'; readonly text: string }
  /** `ref`: of the call, where the person names one. */
  | { readonly type: 'answer'; readonly resolution: Resolution; readonly ref?: string }
  | { readonly type: 'stop' | 'waiting' | 'help' | 'quit' }
  | { readonly type: 'nothing' };

export const CHAT_HELP = [
  '/approve            let the call run that waits first; --input <json> for another input',
  '/deny [reason]      do not let it run',
  '/answer <value>     answer its question: JSON, or a text',
  '/decline [reason]   do not answer it',
  '/result <value>     the result of a call that a client or another backend runs; /error <message>',
  '/waiting            what waits; a ref behind the word answers that call: /approve default~c1~call_2',
  '/stop               stop the running turn',
  '/quit               leave; the conversation goes on',
].join('\n');

const REF = /^\S+~\S+~\S+$/;
const WORDS = ['stop', 'waiting', 'help', 'quit'] as const;

/**
 * A line that begins with two slashes is a message that begins with one. A value that is not JSON is a text.
 * @throws {ConfigError} for an unknown word, or one without its value
 */
export function typedLine(line: string): Typed {
  const text = line.trim();
  if (text === '') return { type: 'nothing' };
  if (!text.startsWith('/')) return { type: 'message', text };
  if (text.startsWith('//')) return { type: 'message', text: text.slice(1) };
  const [word = '', ...rest] = text.slice(1).split(/\s+/);
  const known = WORDS.find((name) => name === word);
  if (known !== undefined) return { type: known };
  const [first, ...others] = rest;
  const ref = first !== undefined && REF.test(first) ? first : undefined;
  const value = (ref === undefined ? rest : others).join(' ');
  const resolution = resolutionOf(flagsOf(word, value));
  return { type: 'answer', resolution, ...(ref === undefined ? {} : { ref }) };
}

function flagsOf(word: string, value: string): AnswerFlags {
  const input = /^--input\s+(.+)$/.exec(value)?.[1];
  switch (word) {
    case 'approve':
      return { approve: true, ...(input === undefined ? {} : { input }) };
    case 'deny':
    case 'decline':
      return { [word]: value === '' ? true : value };
    case 'answer':
    case 'result':
      return { [word]: isJson(filled(word, value)) ? value : JSON.stringify(value) };
    case 'error':
      return { error: filled(word, value) };
    default:
      throw new ConfigError(`/${word} is not known. /help lists the words`);
  }
}

function filled(word: string, value: string): string {
  if (value === '') throw new ConfigError(`/${word} needs a value behind it`);
  return value;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The words with which a call that waits is answered. */
export function wordsFor({ kind }: Pick<PendingCall, 'kind'>): string {
  switch (kind) {
    case 'approval':
      return '/approve or /deny [reason]';
    case 'elicitation':
      return '/answer <value> or /decline [reason]';
    case 'client_execution':
    case 'external_execution':
      return '/result <value> or /error <message>';
    case 'outcome':
      return 'colloquy resolve: an operator says what became of the lost run';
  }
}
