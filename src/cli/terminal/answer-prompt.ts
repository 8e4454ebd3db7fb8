/** Asks a person at the terminal which call to answer, and how. */
import {
  RESOLVES,
  type Resolution,
  type ResolutionType,
} from '../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { Json } from '../../protocol/values/json.js';
import { shownJson, shownText } from '../../protocol/workflow/shown-text.js';
import { ConfigError } from '../process/config-error.js';
import { ask, askText, askWord, type Terminal } from './prompts.js';

const MAX_INPUT_CHARS = 500;

type AskedCall = Pick<PendingCall, 'ref' | 'kind' | 'name' | 'prompt'>;

/** One of the waiting calls; the only one is not asked for. @throws {ConfigError} when none waits */
export async function askCall<Call extends AskedCall>(
  terminal: Terminal,
  calls: readonly Call[],
): Promise<Call> {
  const [first, ...others] = calls;
  if (first === undefined) throw new ConfigError('No call waits; nothing was done');
  const lines = calls.map(
    ({ ref, kind, name, prompt }, index) =>
      `${index + 1}  ${kind} of ${shownText(name)}  ${shownJson(prompt, MAX_INPUT_CHARS)}  ${ref}`,
  );
  terminal.output.write(`${lines.join('\n')}\n`);
  if (others.length === 0) return first;
  return await ask(terminal, `Call (1 to ${calls.length}): `, (answer) => {
    const call = /^\d+$/.test(answer) ? calls[Number(answer) - 1] : undefined;
    if (call === undefined) throw new Error(`It must be a number from 1 to ${calls.length}.`);
    return call;
  });
}

/** The answer to a call, in the words that its kind admits; without a call, in all words. */
export async function askResolution(
  terminal: Terminal,
  call?: Pick<PendingCall, 'kind'>,
): Promise<Resolution> {
  const words = (Object.keys(RESOLVES) as ResolutionType[]).filter(
    (word) => call === undefined || RESOLVES[word].includes(call.kind),
  );
  const type = await askWord(terminal, 'Answer', words);
  switch (type) {
    case 'approve':
      return { type };
    case 'deny':
    case 'decline': {
      const reason = await ask(terminal, 'Reason (may be empty): ', (text) => text);
      return reason === '' ? { type } : { type, reason };
    }
    case 'error':
      return { type, message: await askText(terminal, 'Message of the failure: ') };
    default:
      return { type, value: await ask(terminal, 'Value, as JSON: ', jsonIn) };
  }
}

function jsonIn(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Error('It must be JSON, such as "yes" or {"answer":"yes"}.');
  }
}
