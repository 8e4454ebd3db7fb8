/** Answers the calls that wait now, as a person or in place of a client. */
import { formOf } from 'colloquy/browser';
import type { ReactNode } from 'react';
import { AnswerCall } from '../../shared/answer-call.js';
import type { SentProps } from './props.js';

export function Answers({ session, conversation, log }: SentProps): ReactNode {
  const { replay } = log.view;
  const now = replay.at(replay.events.length - 1).snapshot;
  return now?.pending.map((call) => {
    const { toolCallId, name, answerSchema } = call;
    const form = answerSchema === undefined ? {} : { form: formOf(answerSchema) };
    return (
      <section key={toolCallId} className="said untrusted" aria-label={`Waits: ${name}`}>
        <AnswerCall
          {...{ session, conversation, agent: now.agent }}
          call={{ ...call, ...form, state: 'waiting_for_you' }}
        />
      </section>
    );
  });
}
