/** `colloquy resolve`, `send`, `cancel` and `close`: what a person says to a conversation. */
import type { ConversationClient } from '../../client/conversation-client.js';
import { VERDICT_HTTP_STATUS, type Verdict } from '../../protocol/calls/resolutions.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { TurnResult } from '../../protocol/conversation/conversation.js';
import { askCall, askResolution } from '../terminal/answer-prompt.js';
import { isAsking, systemTerminal, type Terminal } from '../terminal/prompts.js';
import { type AnswerFlags, isAnswered, resolutionOf } from './answer-flags.js';
import { type ActorFlags, asJson, optionsAgain, withClient } from './opened.js';
import { commandOf, lines, oneLine } from './text.js';

/** Conversations whose calls are offered at most. */
const MAX_LISTED = 100;

export interface ResolveFlags extends ActorFlags, AnswerFlags {
  readonly digest?: string;
  readonly claim?: string;
  readonly requestId?: string;
}

/** Prints the verdict. 1 when the answer was refused, at once or by the worker that checked it. */
export async function runResolve(
  given: string | undefined,
  flags: ResolveFlags,
  terminal: Terminal = systemTerminal(),
): Promise<never> {
  const said = isAnswered(flags) || !isAsking(terminal) ? resolutionOf(flags) : undefined;
  return await withClient(flags, async ({ client, print }) => {
    const { digest, claim, requestId } = flags;
    const call =
      given === undefined || said === undefined
        ? await askedCall(client, given, { terminal, tenant: flags.tenant })
        : undefined;
    const ref = given ?? call?.ref ?? '';
    const resolution = said ?? (await askResolution(terminal, call));
    const outcome = await client.resolve(ref, resolution, {
      argsDigest: digest,
      claimId: claim,
      requestId,
    });
    const isUnchecked = outcome.verdict === 'accepted' && outcome.checked === false;
    const verdict = isUnchecked
      ? { ...(await outcome.final()), requestId: outcome.requestId }
      : { ...outcome, final: undefined };
    const httpStatus = VERDICT_HTTP_STATUS[verdict.verdict];
    if (flags.json === true) print(asJson({ ...verdict, httpStatus }));
    else print(verdictText(verdict));
    return httpStatus < 400 ? 0 : 1;
  });
}

/** The named call, as it waits now, else the one that a person chooses. Undefined where the named one does not wait. */
async function askedCall(
  client: ConversationClient,
  ref: string | undefined,
  { terminal, tenant }: { readonly terminal: Terminal; readonly tenant: string | undefined },
): Promise<PendingCall | undefined> {
  const { conversations } = await client.list({
    ...(tenant === undefined ? {} : { tenant }),
    ...{ status: 'awaiting_input', limit: MAX_LISTED },
  });
  const calls = conversations.flatMap(({ pending }) => pending);
  return ref === undefined
    ? await askCall(terminal, calls)
    : calls.find((call) => call.ref === ref);
}

/** The word of the verdict, with the reasons behind it. */
export function verdictText(verdict: Verdict): string {
  const { verdict: word, ...rest } = verdict as Readonly<Record<string, unknown>>;
  const problems = Array.isArray(rest['problems']) ? (rest['problems'] as readonly object[]) : [];
  const why = ['why', 'reason', 'by', 'at', 'status', 'warning']
    .flatMap((field) => {
      const value = rest[field];
      return typeof value === 'string' ? [oneLine(value)] : [];
    })
    .join(', ');
  return [
    `${String(word)}${why === '' ? '' : `: ${why}`}`,
    ...problems.map((problem) => {
      const { path, message } = problem as { readonly path: string; readonly message: string };
      return `  ${oneLine(path)} ${oneLine(message)}`;
    }),
  ].join('\n');
}

export interface SendFlags extends ActorFlags {
  readonly agent?: string;
  readonly requestId?: string;
  /** Seconds to wait for the answer; 0 = none. */
  readonly wait: number;
  readonly reopen?: boolean;
}

/** Prints the answer of the turn. 1 when the turn has failed or was cancelled. */
export async function runSend(id: string, text: string, flags: SendFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const { agent, requestId, reopen, wait } = flags;
    const conversation = client.conversation(id, { agent });
    const sent = await conversation.send(text, { requestId, reopen });
    if (wait === 0) {
      if (flags.json === true) print(asJson({ ...sent, final: undefined }));
      else print(sent.status === 'queued' ? `queued: ${sent.warning}` : `turn ${sent.turnId}`);
      return 0;
    }
    const result = await sent.result({ timeout: wait * 1_000 });
    if (flags.json === true) print(asJson(result));
    else if (result.status === 'queued') print(`queued: ${'warning' in sent ? sent.warning : ''}`);
    else print(resultText([id, ...optionsAgain(flags)], result));
    return result.status === 'failed' || result.status === 'cancelled' ? 1 : 0;
  });
}

/** `conversation`: its id and options, for the next command. */
function resultText(conversation: readonly string[], result: TurnResult): string {
  switch (result.status) {
    case 'completed':
      return lines(result.text);
    case 'failed':
      return `failed: ${oneLine(result.error.message)}`;
    case 'cancelled':
      return 'cancelled';
    case 'waiting':
      return [
        ...result.pending.map(
          ({ kind, name, ref }) => `waits for: ${kind} of ${oneLine(name)}  ${ref}`,
        ),
        `next: ${commandOf(['colloquy', 'pending', ...conversation])}`,
      ].join('\n');
    case 'timeout':
      return `The turn still runs. Next: ${commandOf(['colloquy', 'tail', ...conversation, '--follow'])}`;
  }
}

export interface CancelFlags extends ActorFlags {
  readonly turn?: string;
  readonly reason?: string;
}

export async function runCancel(id: string, flags: CancelFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const { turn, reason } = flags;
    const outcome = await client.conversation(id).cancel({ turnId: turn, reason });
    if (flags.json === true) print(asJson(outcome));
    else if (outcome.status === 'queued') print(`queued: ${outcome.warning}`);
    else print(outcome.cancelled ? `cancelled turn ${outcome.turnId ?? ''}` : 'No turn runs.');
    return 0;
  });
}

export async function runClose(id: string, flags: ActorFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const outcome = await client.conversation(id).close();
    print(flags.json === true ? asJson(outcome) : `closed ${id}`);
    return 0;
  });
}
