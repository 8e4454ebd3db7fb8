/** The conversations of the sub-agents of a test conversation: each is driven in the same process, on the same clock. */
import { childrenToClose, endOf } from '../../core/children/children.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import type { InputOf, ResultOf } from '../../core/work/row.js';
import type { Agent } from '../../define/define-agent.js';
import type { AgentSettings } from '../../protocol/conversation/agents.js';
import type { ParentRef } from '../../protocol/conversation/children.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { boundedManifest, firstMessage, notStarted } from '../../tools/run/sub-agent.js';

/** The part of a driver that its parent uses. */
export interface ChildDriver {
  readonly machine: ConversationMachine;
  settle(): Promise<void>;
}

export interface ChildSpec<Services> {
  readonly agent: Agent<Services>;
  readonly conversationId: string;
  readonly settings: AgentSettings;
  readonly parent: ParentRef;
}

export interface LocalChildrenOptions<Services, Driver extends ChildDriver> {
  readonly agent: (name: string) => Agent<Services>;
  readonly machine: () => ConversationMachine;
  readonly drive: (spec: ChildSpec<Services>) => Driver;
}

export class LocalChildren<Services, Driver extends ChildDriver> {
  readonly #options: LocalChildrenOptions<Services, Driver>;
  readonly #drivers = new Map<string, Driver>();
  readonly #reported = new Set<string>();

  constructor(options: LocalChildrenOptions<Services, Driver>) {
    this.#options = options;
  }

  /** In the order in which they were started, also those that have ended. */
  get drivers(): readonly Driver[] {
    return [...this.#drivers.values()];
  }

  async start(input: InputOf<'startChild'>): Promise<ResultOf<'startChild'>> {
    const { name, childId, parent, granted, unwanted } = input;
    if (unwanted === true) return notStarted({ code: 'cancelled', message: TEXTS.cancelled });
    const tool = this.#options.agent(input.agent).tools.find((each) => each.name === name);
    if (tool?.subAgent === undefined)
      return notStarted({ code: 'not_available', message: TEXTS.noLongerAvailable(name) });
    const message = firstMessage(tool, input);
    if ('refused' in message) return message.refused;
    const agent = tool.subAgent.agent as Agent<Services>;
    const { settings } = boundedManifest(agent, granted);
    const driver = this.#options.drive({ agent, conversationId: childId, settings, parent });
    this.#drivers.set(childId, driver);
    driver.machine.take('sendMessage', message.input);
    await Promise.resolve();
    return { started: true };
  }

  async stop({ childId }: InputOf<'stopChild'>): Promise<ResultOf<'stopChild'>> {
    const driver = this.#drivers.get(childId);
    await Promise.resolve();
    return { running: driver?.machine.take('closeConversation', {}).accepted === true };
  }

  /** Lets all of them work, and reports those that have ended. True when the parent has something new to do. */
  async settle(): Promise<boolean> {
    const { state } = this.#options.machine();
    if (state.closed)
      for (const { childId } of childrenToClose(state))
        this.#drivers.get(childId)?.machine.take('closeConversation', {});
    let isNews = false;
    for (const [childId, driver] of this.#drivers) {
      await driver.settle();
      const { state: ended } = driver.machine;
      if (!ended.closed || this.#reported.has(childId)) continue;
      this.#reported.add(childId);
      const report = { childId, end: endOf(ended) };
      if (this.#options.machine().take('childEnded', report).accepted) isNews = true;
    }
    return isNews;
  }
}
