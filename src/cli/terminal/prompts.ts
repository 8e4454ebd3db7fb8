/** Questions to a person at a terminal. Nothing is asked where input or output is anything else. */
import { createInterface } from 'node:readline/promises';
import { ConfigError } from '../process/config-error.js';

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Standard error, so that standard output holds the results alone. */
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export function systemTerminal(): Terminal {
  return { input: process.stdin, output: process.stderr };
}

export function isAsking({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/**
 * Asks until `read` takes the answer; what it throws is printed, and asked again.
 * @throws {ConfigError} at the end of the input
 */
export async function ask<Value>(
  { input, output }: Terminal,
  question: string,
  read: (answer: string) => Value,
): Promise<Value> {
  const lines = createInterface({ input, output, terminal: false });
  const ended = new AbortController();
  lines.once('close', () => {
    ended.abort();
  });
  try {
    for (;;) {
      const answer = await lines.question(question, { signal: ended.signal });
      try {
        return read(answer.trim());
      } catch (error) {
        output.write(`${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
    output.write('\n');
    throw new ConfigError('The input ended before the question was answered; nothing was done');
  } finally {
    lines.close();
  }
}

/** Asks for text that is not empty. @throws {ConfigError} at the end of the input */
export async function askText(terminal: Terminal, question: string): Promise<string> {
  return await ask(terminal, question, (answer) => {
    if (answer === '') throw new Error('It must not be empty.');
    return answer;
  });
}

/** Asks for one of the words, or an unmistakable beginning of one. @throws {ConfigError} at the end of the input */
export async function askWord<Word extends string>(
  terminal: Terminal,
  question: string,
  words: readonly Word[],
): Promise<Word> {
  return await ask(terminal, `${question} (${words.join(', ')}): `, (answer) => {
    const begun = words.filter((word) => answer !== '' && word.startsWith(answer.toLowerCase()));
    const [found] = words.includes(answer as Word) ? [answer as Word] : begun;
    if (found === undefined || (begun.length > 1 && found !== answer))
      throw new Error(`It must be one of ${words.join(', ')}.`);
    return found;
  });
}

/** True without a terminal: then nothing is asked. An empty answer is a no. */
export async function isConfirmed(
  terminal: Terminal,
  question: string,
  { yes = false }: { readonly yes?: boolean | undefined },
): Promise<boolean> {
  if (yes || !isAsking(terminal)) return true;
  const answer = await ask(terminal, `${question} (yes or no) [no]: `, (text) => {
    if (!/^(y|yes|n|no|)$/i.test(text)) throw new Error('It must be yes or no.');
    return text;
  });
  return /^y/i.test(answer);
}

interface Missing {
  readonly question: string;
  /** The error where there is no terminal. */
  readonly refuse: () => never;
}

/** The given text, or the one that a person types. */
export async function givenOrAsked(
  given: string | undefined,
  { question, refuse }: Missing,
  terminal: Terminal = systemTerminal(),
): Promise<string> {
  if (given !== undefined) return given;
  return isAsking(terminal) ? await askText(terminal, question) : refuse();
}
