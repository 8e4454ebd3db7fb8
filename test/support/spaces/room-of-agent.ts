/** An agent of the test kit that is a member of a space in a store in memory. */
import { onTestFinished } from 'vitest';
import { defineAgent, type Model, type Plugin, type Tool } from '../../../src/index.js';
import { agentMemberId, type SpaceMessage } from '../../../src/protocol/spaces/spaces.js';
import { SPACES, type SpacesOfAgents, spacesPlugin } from '../../../src/spaces/index.js';
import { type SpaceCaller, Spaces } from '../../../src/spaces/service.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { testConversation } from '../../../src/testing/index.js';

export const ANN: SpaceCaller = {
  tenant: 'default',
  member: { kind: 'person', id: 'ann', name: 'Ann' },
};

/** Id of the agent as a member; conversations of the test kit have the id `test`. */
export const BOT = agentMemberId({ conversationId: 'test', agent: 'bot' });

/** The id that Ann's space `desk` has in every store. */
export const DESK = 'sp_ee31a847391a0742e8d6f585';

/** Calls of a step run one after the other, and the model reads bare results, as with documents of Hsafa. */
export function botWith(
  model: Model,
  tools: readonly Tool[] = [],
  plugins: readonly Plugin[] = [],
) {
  return defineAgent({
    name: 'bot',
    model,
    instructions: 'Help.',
    tools,
    plugins: [spacesPlugin(), ...plugins],
    settings: { toolExecution: 'sequential' },
    resultForm: 'bare',
  });
}

/** `startAt`: of the clock of the conversation; else that of the test kit. */
export async function roomOf(
  model: Model,
  tools: readonly Tool[] = [],
  given: { readonly startAt?: Date } = {},
) {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const spaces = new Spaces({ store });
  await spaces.create(ANN, { name: 'Desk', requestId: 'desk' });
  await spaces.join(ANN, DESK, { kind: 'agent', id: BOT });
  /** Every state of the messages of calls. */
  const shown: SpaceMessage[] = [];
  const port: SpacesOfAgents = {
    get: (...args) => spaces.get(...args),
    messages: (...args) => spaces.messages(...args),
    send: (...args) => spaces.send(...args),
    show: async (...args) => {
      const message = await spaces.show(...args);
      shown.push(message);
      return message;
    },
    writes: (...args) => {
      spaces.writes(...args);
    },
  };
  const t = testConversation(botWith(model, tools), { ...given, ports: { [SPACES.id]: port } });
  const messages = async () => (await spaces.messages(ANN, DESK, { limit: 100 })).messages;
  return { t, spaces, store, port, shown, messages };
}
