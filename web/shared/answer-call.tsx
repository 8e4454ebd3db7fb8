/** The part by which a person answers a waiting call, also in place of the client that runs it. */
import {
  type BrowserConversation,
  errorsByField,
  type Json,
  type PendingView,
} from 'colloquy/browser';
import {
  Approval,
  Form,
  Question,
  type Sentence,
  useAnswer,
  useInputSchema,
  Values,
} from 'colloquy/react';
import { type ReactNode, useState } from 'react';
import type { Session } from '../session/session.js';
import { OutcomeForm, type OutcomeTexts } from './outcome-form.js';

export interface AnsweredCall {
  readonly session: Session;
  readonly conversation: BrowserConversation;
  readonly call: PendingView;
  /** The agent of the conversation. */
  readonly agent: string;
  /** The arguments, where they are known. */
  readonly input?: Json | undefined;
}

export function AnswerCall(props: AnsweredCall): ReactNode {
  const { call, conversation } = props;
  switch (call.kind) {
    case 'approval':
      return <OneApproval {...props} />;
    case 'elicitation':
      return <Question {...{ call, conversation }} />;
    case 'outcome':
      return <Outcome {...{ call, conversation }} />;
    case 'client_execution':
    case 'external_execution':
      return <ByHand {...{ call, conversation }} />;
  }
}

function OneApproval({ session, agent, ...rest }: AnsweredCall): ReactNode {
  const { name, agent: own = agent } = rest.call;
  const schema = useInputSchema(session.client, { agent: own, tool: name });
  return <Approval {...rest} inputSchema={schema} />;
}

type Sent = Pick<AnsweredCall, 'conversation' | 'call'>;

function Verdict({ sentence }: { readonly sentence: Sentence | undefined }): ReactNode {
  return (
    <p role="status" className={sentence?.tone === 'bad' ? 'error' : 'hint'}>
      {sentence?.text}
    </p>
  );
}

function Outcome(props: Sent): ReactNode {
  const { name, prompt } = props.call;
  const [texts, setTexts] = useState<OutcomeTexts>({});
  const { isBusy, sentence, send } = useAnswer(props);
  return (
    <section aria-label={`Outcome of ${name}`}>
      <Values value={prompt} />
      <OutcomeForm {...{ texts, isBusy }} onTexts={setTexts} onAnswer={send} />
      <Verdict sentence={sentence} />
    </section>
  );
}

const WORDS = {
  answer: 'Give the result',
  answerAsJson: 'Result as JSON',
  decline: 'Cannot run',
};

/** A call that a page or a backend with its function runs: the person gives the result in its place. */
function ByHand(props: Sent): ReactNode {
  const { name, prompt, kind, form = { type: 'json', schema: {} } } = props.call;
  const { isBusy, verdict, sentence, send } = useAnswer(props);
  const errors = verdict?.verdict === 'invalid' ? errorsByField(verdict.problems) : undefined;
  const runner = kind === 'client_execution' ? 'page' : 'backend';
  return (
    <section aria-label={`Result of ${name}`}>
      <p className="hint">
        A {runner} that has this function runs the call. You may give its result by hand.
      </p>
      <Values value={prompt} />
      <Form
        {...{ form, isBusy, errors, words: WORDS }}
        onAnswer={(value) => send({ type: 'result', value })}
        onDecline={() => send({ type: 'error', message: `No ${runner} can run this call` })}
      />
      <Verdict sentence={sentence} />
    </section>
  );
}
