/**
 * The handlers of the conversation: updates, signals and queries. Handlers are synchronous and total: they take
 * `unknown`, mutate through the machine, wake the main loop and return; the reply leaves before any consequence of it.
 * Validators refuse updates, so refusals leave no history.
 */
import {
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import { takeInboxSignal } from '../../core/machine/inbox.js';
import { snapshotOf, toolCallView } from '../../core/view/snapshot.js';
import { isAccepted } from '../../protocol/calls/resolutions.js';
import { isRecord } from '../../protocol/values/json.js';
import { QUERIES, SIGNALS, UPDATES } from '../../protocol/workflow/messaging.js';
import { transcriptSlice } from '../transcript/transcript-window.js';
import { registerClaims } from './claims.js';
import { type HandlerOptions, refuse, throwRefusal } from './handler.js';
import { registerOffers } from './offers.js';
import { registerBatches, registerCalls, registerInbox, registerRules } from './tool-calls.js';

/** Registers every handler. Must be called synchronously in the first activation. */
export function registerHandlers(options: HandlerOptions): void {
  registerUpdates(options);
  registerCalls(options);
  registerClaims(options);
  registerOffers(options);
  registerBatches(options);
  registerInbox(options);
  registerRules(options);
  registerSignals(options);
  registerQueries(options);
}

function registerUpdates(options: HandlerOptions): void {
  const { machine, wake, countUpdate } = options;
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.sendMessage),
    (input) => {
      countUpdate();
      const outcome = machine.sendMessage(input);
      if (!outcome.accepted) throwRefusal(outcome.refusal);
      wake();
      return outcome.reply;
    },
    {
      description: 'Start or continue the conversation with a message: {text, requestId, actor}',
      validator: (input) => {
        const refusal = machine.refuseMessage(input);
        if (refusal !== undefined) throwRefusal(refusal);
      },
    },
  );
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.resolveToolCall),
    (input) => {
      countUpdate();
      const verdict = machine.resolve(input);
      if (!isAccepted(verdict)) refuse('verdict', verdict.verdict, verdict);
      wake();
      return verdict;
    },
    {
      description: 'Answer a waiting call: {toolCallId, resolution, actor, requestId}',
      validator: (input) => {
        const verdict = machine.judgeResolution(input);
        if (verdict !== undefined) refuse('verdict', verdict.verdict, verdict);
      },
    },
  );
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.cancelTurn),
    (input) => {
      countUpdate();
      const reply = machine.cancelTurn(input);
      wake();
      return reply;
    },
    { description: 'Stop the running turn: {turnId?, reason?, actor}' },
  );
  setHandler(
    defineUpdate<unknown, [unknown]>(UPDATES.closeConversation),
    (input) => {
      countUpdate();
      const reply = machine.close('requested', isRecord(input) ? input : {});
      wake();
      return reply;
    },
    { description: 'Close the conversation: {actor}' },
  );
}

function registerSignals(options: HandlerOptions): void {
  const { machine, wake, countSignal } = options;
  const signal = (name: string, description: string, take: (input: unknown) => void): void => {
    const handler = (input: unknown): void => {
      countSignal();
      take(input);
      wake();
    };
    setHandler(defineSignal<[unknown]>(name), handler, { description });
  };
  signal(SIGNALS.sendMessage, 'The same as the update, with no reply', (input) => {
    machine.sendMessageBySignal(input);
  });
  signal(SIGNALS.resolveToolCall, 'The same as the update, with no reply', (input) => {
    machine.resolveBySignal(input);
  });
  signal(SIGNALS.inboxEvent, 'The same as the update, with no reply', (input) => {
    takeInboxSignal(machine, input);
  });
  signal(SIGNALS.cancelTurn, 'The same as the update, with no reply', (input) => {
    machine.cancelTurn(input);
  });
  signal(SIGNALS.rollOver, 'Continue in a new run at the next quiet point', () => {
    options.requestRollOver();
  });
  signal(SIGNALS.recover, 'From `colloquy repair`, after a reset', (input) => {
    options.recover(input);
  });
  // Without a default, the SDK would buffer unknown signals for a handler that never comes.
  setDefaultSignalHandler((name) => {
    countSignal();
    log.warn('unknown signal ignored', { signal: name });
  });
}

function registerQueries(options: HandlerOptions): void {
  const { machine, log: events } = options;
  setHandler(defineQuery<unknown>(QUERIES.snapshot), () => snapshotOf(machine.state), {
    description: 'State of the conversation, with what is pending',
  });
  setHandler(defineQuery<unknown>(QUERIES.pending), () => snapshotOf(machine.state).pending, {
    description: 'Calls that wait for an answer',
  });
  setHandler(
    defineQuery<unknown, [unknown]>(QUERIES.toolCall),
    (input) => {
      const id = isRecord(input) ? input['toolCallId'] : input;
      return typeof id === 'string' ? toolCallView(machine.state, id) : null;
    },
    { description: 'One call: {toolCallId}' },
  );
  setHandler(defineQuery<unknown, [unknown]>(QUERIES.events), (input) => events.page(input), {
    description: 'Events of this run: {after, maxBytes?}',
  });
  setHandler(
    defineQuery<unknown, [unknown]>(QUERIES.transcriptSlice),
    (input) => transcriptSlice(machine.state, input),
    { description: 'Messages of the transcript, in pages: {epoch, from, to}' },
  );
}
