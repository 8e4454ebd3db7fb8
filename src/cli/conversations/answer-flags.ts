/** The options of `colloquy resolve`: read into a resolution, and written into a command that works as it stands. */
import type { SampleAnswer } from '../../core/view/sample-answer.js';
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { Json } from '../../protocol/values/json.js';
import { safeJson, visible } from '../../protocol/workflow/shown-text.js';
import { ConfigError } from '../process/config.js';
import { commandOf } from './text.js';

/** Exactly one of the first seven. A text option without its text is `true`. */
export interface AnswerFlags {
  readonly approve?: boolean;
  readonly deny?: string | true;
  readonly answer?: string;
  readonly decline?: string | true;
  readonly result?: string;
  readonly error?: string;
  readonly resolution?: string;
  /** Edited input, with `approve`. */
  readonly input?: string;
}

type Reader = (flags: AnswerFlags) => Resolution | undefined;

const reasonOf = (given: string | true): { readonly reason?: string } =>
  given === true ? {} : { reason: given };

const READERS: Readonly<Record<Exclude<keyof AnswerFlags, 'input'>, Reader>> = {
  approve: ({ approve, input }) =>
    approve === true
      ? { type: 'approve', ...(input === undefined ? {} : { input: jsonOf('input', input) }) }
      : undefined,
  deny: ({ deny }) => (deny === undefined ? undefined : { type: 'deny', ...reasonOf(deny) }),
  answer: ({ answer }) =>
    answer === undefined ? undefined : { type: 'answer', value: jsonOf('answer', answer) },
  decline: ({ decline }) =>
    decline === undefined ? undefined : { type: 'decline', ...reasonOf(decline) },
  result: ({ result }) =>
    result === undefined ? undefined : { type: 'result', value: jsonOf('result', result) },
  error: ({ error }) => (error === undefined ? undefined : { type: 'error', message: error }),
  resolution: ({ resolution }) =>
    resolution === undefined ? undefined : (jsonOf('resolution', resolution) as never),
};

/** Whether an option says how to answer. */
export function isAnswered(flags: AnswerFlags): boolean {
  return ['input', ...Object.keys(READERS)].some((name) => Reflect.get(flags, name) !== undefined);
}

/** @throws {ConfigError} */
export function resolutionOf(flags: AnswerFlags): Resolution {
  const given = Object.values(READERS).flatMap((read) => {
    const resolution = read(flags);
    return resolution === undefined ? [] : [resolution];
  });
  const [resolution, ...others] = given;
  const names = Object.keys(READERS).map((name) => `--${name}`);
  if (resolution === undefined || others.length > 0)
    throw new ConfigError(`Say how to answer, by exactly one of ${names.join(', ')}`);
  if (flags.input !== undefined && flags.approve !== true)
    throw new ConfigError('--input edits the input of a call: it needs --approve');
  return resolution;
}

function jsonOf(name: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `--${name} must be JSON, such as '"yes"' or '{"answer":"yes"}': ${reason}`,
    );
  }
}

/**
 * The command that gives the sample answer, for a POSIX shell; undefined where a word of it would have characters that
 * a reader cannot see.
 */
export function commandFor(
  { ref, audience, claim }: PendingCall,
  answer: SampleAnswer,
  options: readonly string[] = [],
): string | undefined {
  const { resolution, argsDigest, claimId, actor } = answer;
  const named = audience !== undefined || claim !== undefined;
  const words = [
    ...['colloquy', 'resolve', ref, ...flagsOf(resolution)],
    ...(argsDigest === undefined ? [] : ['--digest', argsDigest]),
    ...(claimId === undefined ? [] : ['--claim', claimId]),
    ...(named ? ['--as', actor.id] : []),
    ...(named ? (actor.roles ?? []) : []).flatMap((role) => ['--role', role]),
    ...options,
  ];
  const isReadable = words.every((text) => visible(text) === text && !text.includes('\n'));
  return isReadable ? commandOf(words) : undefined;
}

function flagsOf(resolution: Resolution): readonly string[] {
  switch (resolution.type) {
    case 'approve':
      return ['--approve'];
    case 'answer':
      return ['--answer', safeJson(resolution.value)];
    case 'result':
      return ['--result', safeJson(resolution.value)];
    default:
      return ['--resolution', safeJson(resolution)];
  }
}
