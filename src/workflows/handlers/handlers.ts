/**
 * The handlers of the conversation: updates, signals and queries. Handlers are synchronous and total: they take
 * `unknown`, mutate through the machine, wake the main loop and return; the reply leaves before any consequence of it.
 * Validators refuse updates, so refusals leave no history.
 */
import { ApplicationFailure } from '@temporalio/common';
import { defineQuery, log, setHandler } from '@temporalio/workflow';
import type { Refusal } from '../../core/judge/judged.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import { statesNow } from '../../core/plugins/states.js';
import { isSignal, isVerb, type RefusalOf, VERBS, type VerbName } from '../../core/verbs/table.js';
import { snapshotOf, toolCallView } from '../../core/view/snapshot.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import { isRecord } from '../../protocol/values/json.js';
import { QUERIES, SIGNALS, UPDATES } from '../../protocol/workflow/messaging.js';
import type { EventLogOfRun } from '../log/event-log.js';
import { transcriptSlice } from '../transcript/transcript-window.js';
import { InputHandlers } from './input-handlers.js';

export interface HandlerOptions {
  readonly machine: ConversationMachine;
  readonly log: EventLogOfRun;
  /** Called when an input may have changed the state. */
  readonly wake: () => void;
  readonly requestRollOver: () => void;
  /** Takes one part of a recovery. */
  readonly recover: (input: unknown) => void;
  readonly countSignal: () => void;
  readonly countUpdate: () => void;
}

/**
 * Registers every handler. Must be called synchronously in the first activation, or when inputs wait no longer
 * (`reopening.ts`).
 */
export function registerHandlers(options: HandlerOptions): InputHandlers {
  const handlers = new InputHandlers();
  for (const name of Object.keys(VERBS).filter(isVerb)) registerVerb(handlers, name, options);
  registerSignals(handlers, options);
  registerQueries(options);
  return handlers;
}

/** The update of a verb. A refusal is a failure of the validator, so it leaves no history. */
function registerVerb(
  handlers: InputHandlers,
  name: VerbName,
  { machine, wake, countUpdate }: HandlerOptions,
): void {
  handlers.update(
    UPDATES[name],
    (input) => {
      countUpdate();
      const outcome = machine.take(name, input);
      if (!outcome.accepted) return throwRefusal(outcome.refusal);
      wake();
      return outcome.reply;
    },
    {
      description: VERBS[name].description,
      validator: (input) => {
        const refusal = machine.refusalOf(name, input);
        if (refusal !== undefined) throwRefusal(refusal);
      },
    },
  );
}

function throwRefusal(refusal: RefusalOf<VerbName>): never {
  if ('verdict' in refusal) return refuse('verdict', refusal.verdict, refusal);
  const { code, message, problems, reply }: Refusal = refusal;
  const detail = reply ?? { message, ...(problems === undefined ? {} : { problems }) };
  return refuse(code, message, detail);
}

function refuse(code: FailureCode, message: string, detail: unknown): never {
  throw ApplicationFailure.create({ type: code, message, nonRetryable: true, details: [detail] });
}

function registerSignals(handlers: InputHandlers, options: HandlerOptions): void {
  const { machine, wake, countSignal } = options;
  const signal = (name: string, description: string, take: (input: unknown) => void): void => {
    const handler = (input: unknown): void => {
      countSignal();
      take(input);
      wake();
    };
    handlers.signal(name, handler, description);
  };
  for (const name of Object.keys(VERBS).filter(isSignal))
    signal(SIGNALS[name], 'The same as the update, with no reply', (input) => {
      machine.takeSignal(name, input);
    });
  signal(SIGNALS.rollOver, 'Continue in a new run at the next quiet point', () => {
    options.requestRollOver();
  });
  signal(SIGNALS.recover, 'From `colloquy repair`, after a reset', (input) => {
    options.recover(input);
  });
  handlers.others((name) => {
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
  setHandler(defineQuery<unknown>(QUERIES.pluginStates), () => statesNow(machine.state), {
    description: 'States of the plugins now, and their hash',
  });
}
