/** The part by which a person answers a waiting call, also in place of the client that runs it. */
import {
  type BrowserConversation,
  errorsByField,
  type Json,
  type PendingView,
  type Resolution,
} from 'colloquy/browser';
import {
  Approval,
  Form,
  Question,
  type Sentence,
  useInputSchema,
  Values,
  verdictSentence,
} from 'colloquy/react';
import { type ReactNode, useState } from 'react';
import type { Session } from '../session/session.js';
import { OutcomeForm, type OutcomeTexts } from './outcome-form.js';
import { whyOf } from './why.js';

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

interface UsedAnswer {
  readonly isBusy: boolean;
  readonly sentence: Sentence | undefined;
  /** By name of field. */
  readonly errors: Readonly<Record<string, string>> | undefined;
  readonly send: (resolution: Resolution) => void;
}

function useSent({ call, conversation }: Sent): UsedAnswer {
  const { toolCallId, argsDigest } = call;
  const [sent, setSent] = useState<Pick<UsedAnswer, 'sentence' | 'errors'>>();
  const [isBusy, setBusy] = useState(false);
  const send = async (resolution: Resolution): Promise<void> => {
    setBusy(true);
    try {
      const verdict = await conversation.resolve(toolCallId, resolution, { argsDigest });
      const errors = verdict.verdict === 'invalid' ? errorsByField(verdict.problems) : undefined;
      setSent({ sentence: verdictSentence(verdict, resolution.type, Date.now()), errors });
    } catch (error) {
      setSent({ sentence: { text: whyOf(error), tone: 'bad' }, errors: undefined });
    } finally {
      setBusy(false);
    }
  };
  const { sentence, errors } = sent ?? {};
  return { isBusy, sentence, errors, send: (resolution) => void send(resolution) };
}

function Verdict({ sentence }: Pick<UsedAnswer, 'sentence'>): ReactNode {
  return (
    <p role="status" className={sentence?.tone === 'bad' ? 'error' : 'hint'}>
      {sentence?.text}
    </p>
  );
}

function Outcome(props: Sent): ReactNode {
  const { name, prompt } = props.call;
  const [texts, setTexts] = useState<OutcomeTexts>({});
  const { isBusy, sentence, send } = useSent(props);
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
  const { isBusy, sentence, errors, send } = useSent(props);
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
