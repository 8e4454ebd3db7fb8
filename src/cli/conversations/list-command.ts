/** `colloquy list`, `colloquy pending` and `colloquy show`: conversations and what waits in them. */
import type { ConversationClient } from '../../client/conversation-client.js';
import { excludesRequester, outsideReason } from '../../core/calls/audience.js';
import { sampleAnswer, whoMayAnswer, whyTakenBack } from '../../core/view/sample-answer.js';
import type { PendingCall } from '../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import { requestersStored } from '../../store/plans/pending.js';
import { commandFor } from './answer-flags.js';
import { type ActorFlags, asJson, type CommonFlags, type Opened, withClient } from './opened.js';
import { oneLine, shortJson, table } from './text.js';

export interface ListFlags extends CommonFlags {
  readonly status?: string;
  readonly agent?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export async function runList(flags: ListFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const { tenant, status, agent, limit, cursor } = flags;
    const page = await client.list({
      ...(tenant === undefined ? {} : { tenant }),
      ...(status === undefined ? {} : { status: status as never }),
      ...(agent === undefined ? {} : { agent }),
      ...(cursor === undefined ? {} : { cursor }),
      limit,
    });
    if (flags.json === true) print(asJson(page));
    else if (page.conversations.length === 0) print('No conversation.');
    else print(listed(page.conversations));
    if (flags.json !== true && page.nextCursor !== undefined)
      print(`\nThere are more: --cursor ${page.nextCursor}`);
    return 0;
  });
}

function listed(conversations: readonly ConversationSnapshot[]): string {
  return table(
    ['ID', 'AGENT', 'STATUS', 'WAITS FOR', 'UPDATED'],
    conversations.map(({ conversationId, agent, status, pending, updatedAt }) => [
      conversationId,
      agent,
      status,
      pending.length === 0 ? '-' : oneLine(pending.map(({ name }) => name).join(', '), 40),
      updatedAt,
    ]),
  );
}

export interface PendingFlags extends ActorFlags {
  readonly for?: string;
  readonly limit: number;
}

/** With `--for`, only what that user may answer; soonest deadline first. */
export async function runPending(id: string | undefined, flags: PendingFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const all = id === undefined ? await waiting(client, flags) : [await snapshotOf(client, id)];
    const found = await forPerson(client, all, flags);
    if (flags.json === true) {
      print(
        asJson(
          found.flatMap(({ conversationId, pending }) =>
            pending.map((call) => ({ conversationId, ...call })),
          ),
        ),
      );
      return 0;
    }
    const open = found.filter(({ pending }) => pending.length > 0);
    if (open.length === 0) print('Nothing waits.');
    for (const snapshot of open) print(await waitingText(client, snapshot));
    return 0;
  });
}

async function waiting(
  client: ConversationClient,
  flags: PendingFlags,
): Promise<readonly ConversationSnapshot[]> {
  const { tenant, limit } = flags;
  const person = personOf(flags);
  const { conversations } = await client.list({
    ...(tenant === undefined ? {} : { tenant }),
    ...(person === undefined ? { status: 'awaiting_input' as const } : { pendingFor: person }),
    limit,
  });
  return conversations;
}

function personOf({ for: id, role }: Pick<PendingFlags, 'for' | 'role'>): JudgedActor | undefined {
  if (id === undefined) return undefined;
  return { id, verified: true, ...(role === undefined ? {} : { roles: role }) };
}

/** Without the calls that the person of `--for` may not answer. */
export async function forPerson(
  client: Pick<ConversationClient, 'conversation'>,
  conversations: readonly ConversationSnapshot[],
  flags: Pick<PendingFlags, 'for' | 'role'>,
): Promise<readonly ConversationSnapshot[]> {
  const person = personOf(flags);
  if (person === undefined) return conversations;
  const found: ConversationSnapshot[] = [];
  for (const snapshot of conversations) {
    const pending: PendingCall[] = [];
    for (const call of snapshot.pending) {
      const requesters = await requestersOf(client, snapshot, call);
      const { audience } = call;
      if (audience === undefined || outsideReason(audience, person, requesters) === undefined)
        pending.push(call);
    }
    found.push({ ...snapshot, pending });
  }
  return found;
}

export async function runShow(id: string, flags: CommonFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const snapshot = await snapshotOf(client, id);
    print(flags.json === true ? asJson(snapshot) : await shown(client, snapshot));
    return 0;
  });
}

async function snapshotOf(client: ConversationClient, id: string): Promise<ConversationSnapshot> {
  return await client.conversation(id).snapshot();
}

async function shown(client: Opened['client'], snapshot: ConversationSnapshot): Promise<string> {
  const { conversationId, tenant, agent, status, seq, turn, queued, inFlightTools } = snapshot;
  const { startedAt, updatedAt, usage } = snapshot;
  const running = inFlightTools.map(
    ({ toolCallId, name, childId }) =>
      `runs      ${oneLine(name)}  ${oneLine(toolCallId)}${childId === undefined ? '' : `  sub-agent ${childId}`}`,
  );
  return [
    `${conversationId}  ${status}`,
    `agent     ${agent}   tenant ${tenant}`,
    `since     ${startedAt}   last event ${seq} at ${updatedAt}`,
    ...(turn === undefined ? [] : [`turn      ${turn.turnId}  step ${turn.step}`]),
    ...(queued.length === 0 ? [] : [`queued    ${queued.length} more turns`]),
    ...running,
    `usage     ${usage.inputTokens} tokens in, ${usage.outputTokens} out`,
    ...(snapshot.pending.length === 0 ? [] : [await waitingText(client, snapshot)]),
  ].join('\n');
}

/** Each waiting call with the command that answers it. */
async function waitingText(
  client: ConversationClient,
  { conversationId, tenant, pending }: ConversationSnapshot,
): Promise<string> {
  const texts: string[] = [];
  for (const call of pending) {
    const sample = sampleAnswer(call, await requestersOf(client, { conversationId, tenant }, call));
    const reason = call.reason === undefined ? '' : ` (${oneLine(call.reason)})`;
    texts.push(
      `waits     ${conversationId}: ${call.kind} of ${oneLine(call.name)}${reason} until ${call.deadline}`,
      `          arguments: ${shortJson(call.prompt, 500)}`,
      ...(call.audience === undefined && call.claim === undefined
        ? []
        : [`          who may answer: ${whoMayAnswer(call)}`]),
      ...whyTakenBack(call).map((line) => `          ${line}`),
      sample === undefined
        ? '          Its audience names no actor that a command could give.'
        : `          ${commandFor(call, sample.answer)}`,
    );
  }
  return texts.join('\n');
}

/** Ids of those who asked for the call, whom its audience may exclude. The log is read only then. */
async function requestersOf(
  client: Pick<ConversationClient, 'conversation'>,
  { conversationId, tenant }: Pick<ConversationSnapshot, 'conversationId' | 'tenant'>,
  { audience, turnId }: PendingCall,
): Promise<readonly string[]> {
  if (audience === undefined || !excludesRequester(audience)) return [];
  const events: CanonicalEvent[] = [];
  const conversation = client.conversation(conversationId, { tenant });
  for (let page = await conversation.events(); ; ) {
    events.push(...page.events);
    if (!page.more) break;
    page = await conversation.events({ after: page.cursor });
  }
  const ofTurn = events.filter(
    (event) =>
      (event.type === 'user_message' || event.type === 'turn_started') && event.turnId === turnId,
  );
  return JSON.parse(requestersStored(ofTurn, events.toReversed())) as readonly string[];
}
