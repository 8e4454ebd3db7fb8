/** A call that waits for the answer of a person. */
import type { ReactNode } from 'react';
import { errorsByField } from '../../browser/index.js';
import { type OwnWords, wordsOf } from '../words/words.js';
import { type AnswerProps, useAnswer } from './answer.js';
import { Form } from './form.js';
import { type Rendered, rendered } from './rendered.js';
import { Values } from './values.js';
import { VerdictLine } from './verdict.js';

export interface QuestionProps extends AnswerProps {
  readonly words?: OwnWords | undefined;
  /** Shown in place of the question. */
  readonly children?: unknown;
}

/** Without a schema of the answer, the answer is any JSON. */
export function Question(props: QuestionProps): Rendered {
  const { call, children } = props;
  const words = wordsOf(props.words);
  const answer = useAnswer(props, words);
  const { verdict, isBusy, send } = answer;
  const { title, name, reason, form = { type: 'json', schema: {} } } = call;
  return rendered(
    <section className="colloquy-question" aria-label={`${words.question}: ${title ?? name}`}>
      <p className="colloquy-title">{title ?? name}</p>
      {reason === undefined ? undefined : <p className="colloquy-reason">{reason}</p>}
      {(children as ReactNode) ?? <Values value={call.prompt} words={words} />}
      <Form
        {...{ form, words, isBusy }}
        errors={verdict?.verdict === 'invalid' ? errorsByField(verdict.problems) : undefined}
        onAnswer={(value) => send({ type: 'answer', value })}
        onDecline={() => send({ type: 'decline' })}
      />
      <VerdictLine sentence={answer.sentence} />
    </section>,
  );
}
