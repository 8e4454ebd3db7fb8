/** One turn on either side, as the load generator drives it. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { type Conversation, ConversationClient } from 'colloquy/client';
import { createStoreReader, type OpenLog } from 'colloquy/log';
import { APPROVE, SEND, SUSPENDED } from '../floor/workflows.js';
import {
  type EngineWorkload,
  FLOOR_QUEUE,
  FLOOR_TIMEOUTS,
  isGated,
  MODEL_TEXT,
  USER_TEXT,
  type Workload,
} from '../shared/cells.js';
import type { Watchers } from './watcher.js';

/** One conversation under load. */
export interface Talk {
  readonly workflowId: string;
  /**
   * Runs one turn to its end, and returns its id if the side has one. @throws when the turn ends in an unexpected way
   */
  turn(): Promise<string | undefined>;
  end(): Promise<void>;
}

export type Begin<Of = Workload> = (workload: Of) => Talk;

function wrong(what: string, got: unknown): Error {
  return new Error(`${what}: ${JSON.stringify(got)}`);
}

/** The engine: messages and approvals through the client, the end of the turn from the event log. */
export function engineSide(parts: {
  readonly temporal: Client;
  readonly opened: OpenLog;
  readonly agents: ConstructorParameters<typeof ConversationClient>[0]['agents'];
  readonly watchers: Watchers;
}): Begin<EngineWorkload> {
  const { temporal, opened, agents, watchers } = parts;
  const reader = createStoreReader({ log: opened.log, live: opened.live, source: 'none' });
  const clientWith = (searchAttributes: boolean): ConversationClient =>
    new ConversationClient({ temporal, agents, reader, searchAttributes, actor: { id: 'bench' } });
  const [client, bare] = [clientWith(true), clientWith(false)];
  const begin: Begin<EngineWorkload> = (workload) => {
    if (workload === 'ten') return manyAtOnce(() => begin('a'));
    const conversationId = `bench-${workload}-${randomUUID()}`;
    const through = workload === 'd' ? bare : client;
    const conversation = through.conversation(conversationId, { agent: `bench-${workload}` });
    let watching = false;
    return {
      workflowId: `conversation:default:${conversationId}`,
      turn: async () => {
        const sent = await conversation.send(USER_TEXT);
        if (sent.status !== 'admitted') throw wrong('the message was not admitted', sent);
        if (!watching) watchers.watch(conversationId);
        watching = true;
        let result = await sent.result();
        if (isGated(workload)) {
          if (result.status !== 'waiting') throw wrong('the turn does not wait', result);
          const [pending] = result.pending;
          const verdict = await conversation.resolve(pending?.toolCallId ?? '', {
            type: 'approve',
          });
          if (verdict.verdict !== 'accepted') throw wrong('the approval was not accepted', verdict);
          result = await sent.result({ returnWhenWaiting: false });
        }
        if (result.status !== 'completed' || result.text !== MODEL_TEXT)
          throw wrong('the turn did not complete', result);
        // Ten sub-agents and two calls of its own have 10 tokens each.
        if (workload === 'ten-subs' && result.usage.inputTokens !== 120)
          throw wrong('the sub-agents did not answer', result);
        return sent.turnId;
      },
      end: async () => {
        watchers.unwatch(conversationId);
        if (workload === 'forty-plugins') await requireState(conversation);
        await conversation.close();
      },
    };
  };
  return begin;
}

/** @throws when the plugins have no state */
async function requireState(conversation: Conversation): Promise<void> {
  const read = await conversation.pluginStates();
  const bytes = JSON.stringify(read.states).length;
  if (bytes < 100_000) throw wrong('the state is too small', bytes);
}

/** One turn of each of ten new conversations, all at once. */
function manyAtOnce(begin: () => Talk): Talk {
  const begun: Talk[] = [];
  return {
    workflowId: '',
    turn: async () => {
      const talks = Array.from({ length: 10 }, begin);
      begun.push(...talks);
      await Promise.all(talks.map((talk) => talk.turn()));
      return undefined;
    },
    end: async () => {
      for (const talk of begun) await talk.end();
    },
  };
}

/**
 * Bare Temporal: one update for each turn, which returns at its end; for the gated turn one to send and one to approve.
 */
export function floorSide(temporal: Client): Begin {
  return (workload) => {
    const workflowId = `floor-${workload}-${randomUUID()}`;
    const handle = temporal.workflow.getHandle(workflowId);
    let started = false;
    const send = async (): Promise<string> => {
      if (started) return handle.executeUpdate<string, [string]>(SEND, { args: [USER_TEXT] });
      started = true;
      return temporal.workflow.executeUpdateWithStart<
        (workload: Workload) => Promise<void>,
        string,
        [string]
      >(SEND, {
        args: [USER_TEXT],
        startWorkflowOperation: new WithStartWorkflowOperation('floor', {
          workflowId,
          taskQueue: FLOOR_QUEUE,
          args: [workload],
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowTaskTimeout: FLOOR_TIMEOUTS.workflowTask,
        }),
      });
    };
    return {
      workflowId,
      turn: async () => {
        let answer = await send();
        if (isGated(workload)) {
          if (answer !== SUSPENDED) throw wrong('the turn does not wait', answer);
          answer = await handle.executeUpdate<string, [string]>(APPROVE, { args: ['yes'] });
        }
        if (answer !== MODEL_TEXT) throw wrong('the turn did not complete', answer);
        return undefined;
      },
      end: async () => {
        await handle.terminate('end of the measurement');
      },
    };
  };
}
