/** The HTTP app with a space in which an agent shows calls; answers reach the agent's conversation of the test kit. */
import { onTestFinished } from 'vitest';
import { manifestOf, type Plugin, type Tool } from '../../../src/index.js';
import { script } from '../../../src/model/scripted/scripted.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import type { ResolveToolCallInput, Verdict } from '../../../src/protocol/calls/resolutions.js';
import { isAccepted } from '../../../src/protocol/calls/resolutions.js';
import { showingLog } from '../../../src/spaces/calls/showing-log.js';
import { SPACES } from '../../../src/spaces/index.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { testConversation } from '../../../src/testing/index.js';
import { refusal } from '../fakes/fake-temporal.js';
import { BOT, botWith, DESK } from './room-of-agent.js';
import { spacesApp } from './spaces-app.js';

type Conversation = ReturnType<typeof testConversation>;

/** Ann's space `desk` has Bob, too, and the agent of the conversation `test`. */
export async function answeringRoom(tools: readonly Tool[], ...answers: readonly ScriptedAnswer[]) {
  return await answeringRoomWith({ tools, plugins: [] }, ...answers);
}

/** The same with plugins of the agent. */
export async function answeringRoomWith(
  { tools, plugins }: { readonly tools: readonly Tool[]; readonly plugins: readonly Plugin[] },
  ...answers: readonly ScriptedAnswer[]
) {
  const kit: { conversation?: Conversation } = {};
  const app = await spacesApp(
    {},
    {
      script: {
        update: async ({ input, workflowId }) => {
          if (kit.conversation === undefined || !workflowId.endsWith('test'))
            throw refusal('verdict', { verdict: 'unknown', what: 'conversation' });
          return await judged(kit.conversation, input as ResolveToolCallInput);
        },
      },
    },
  );
  const { spaces, store } = app;
  const ann = app.as('ann');
  await ann.created({ name: 'Desk' }, 'desk');
  const path = `/v1/spaces/${DESK}`;
  await ann.posted(`${path}/members`, { member: { kind: 'person', id: 'bob', name: 'Bob' } });
  const desk = { tenant: 'default', spaceId: DESK };
  await store.join({ ...desk, member: { kind: 'agent', id: BOT }, nowMs: Date.now() });

  const agent = botWith(script(...answers), tools, plugins);
  const t = testConversation(agent, { ports: { [SPACES.id]: spaces } });
  kit.conversation = t;
  const { log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const quiet = { info: () => undefined, warn: () => undefined };
  const showingWorker = () =>
    showingLog({ log, spaces, agents: [manifestOf(agent)], logger: quiet });
  let showing = showingWorker();
  /** Another worker, which has seen none of the events before, stores those that follow. */
  const replaceWorker = (): void => {
    showing = showingWorker();
  };
  /** Stores what the conversation has logged, as a worker does. */
  const stored = async (): Promise<void> => {
    const key = { tenant: 'default', conversationId: 'test' };
    const { lastSeq = 0 } = (await log.head(key)) ?? {};
    const events = t.events.filter(({ seq }) => seq > lastSeq);
    if (events.length > 0) await showing.append({ ...key, runId: 'run', events });
  };
  const caller = { tenant: 'default', member: { kind: 'person', id: 'ann' } } as const;
  const shown = async (tool: string) => {
    await stored();
    const { messages } = await spaces.messages(caller, DESK, { limit: 100 });
    const message = messages.find(({ metadata }) => metadata?.['toolName'] === tool);
    if (message === undefined) throw new Error(`no message shows a call of ${tool}`);
    return message;
  };
  const pathOf = async (tool: string): Promise<string> =>
    `${path}/messages/${(await shown(tool)).id}/resolution`;
  return { ...app, t, path, shown, pathOf, stored, replaceWorker };
}

/** The conversation judges as its workflow does. */
async function judged(conversation: Conversation, given: ResolveToolCallInput): Promise<Verdict> {
  const { toolCallId, resolution, actor, receivedAt, ...rest } = given;
  const verdict = await conversation.resolve(toolCallId, resolution, {
    ...rest,
    ...(actor === undefined ? {} : { actor: actor }),
    ...(receivedAt === undefined ? {} : { receivedAt: new Date(receivedAt) }),
  });
  if (isAccepted(verdict) || verdict.verdict === 'duplicate') return verdict;
  throw refusal('verdict', verdict);
}
