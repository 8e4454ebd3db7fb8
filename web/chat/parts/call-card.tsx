/** One call of the agent: its tool and state, and what the person may do about it, in its place. */
import type { BrowserConversation, CallView, Json, PendingView } from 'colloquy/browser';
import { Approval, Form, overSentence, Question, useInputSchema, Values } from 'colloquy/react';
import { type ReactNode, useState } from 'react';
import type { Session } from '../../session/session.js';
import { useCoarseNow } from '../../shared/now.js';
import { whyOf } from '../../shared/why.js';
import { callWords } from '../model/words.js';

export interface CallProps {
  readonly session: Session;
  readonly conversation: BrowserConversation;
  /** The agent of the conversation. */
  readonly agent: string;
}

export function CallCard(props: CallProps & { readonly call: CallView }): ReactNode {
  const { session, call } = props;
  const { name, state, pending, input, argumentsJson = '', progress, result, decided } = call;
  return (
    <article className={`call ${state}`} aria-label={`Call of ${name}`}>
      <p className="call-head">
        <b>{pending?.title ?? name}</b> <span className="hint">{callWords(call)}</span>
      </p>
      {decided === undefined ? undefined : <Decision call={call} me={session.caller.actor.id} />}
      {progress === undefined ? undefined : <Values value={progress} />}
      {pending === undefined ? undefined : <Waiting {...props} pending={pending} input={input} />}
      {state === 'writing' || result !== undefined || pending === undefined ? (
        <details>
          <summary>Arguments of {name}</summary>
          {input === undefined ? <pre tabIndex={0}>{argumentsJson}</pre> : <Values value={input} />}
        </details>
      ) : undefined}
      {result === undefined ? undefined : (
        <details>
          <summary>
            {result.ok ? 'Result' : 'Error'} of {name}
          </summary>
          <Values value={(result.ok ? result.result : result.error) as Json} />
        </details>
      )}
    </article>
  );
}

const MINUTE_MS = 60_000;

function Decision({ call, me }: { readonly call: CallView; readonly me: string }): ReactNode {
  const now = useCoarseNow(MINUTE_MS);
  // The decision may be newer than the minute that has begun.
  const at = Math.max(now, Date.parse(call.decided?.at ?? ''));
  return <p className="hint">{overSentence({ decided: call.decided }, me, at)}</p>;
}

/** The part by which the person answers a waiting call: each of several has its own. */
export function Waiting(
  props: CallProps & { readonly pending: PendingView; readonly input?: Json | undefined },
): ReactNode {
  const { session, conversation, agent, pending, input } = props;
  const { kind, state, name, claim } = pending;
  if (state !== 'waiting_for_you' || !session.caller.rights.includes('answer'))
    return (
      <p className="hint">
        {claim === undefined ? 'Others may answer this call.' : `${claim.by} runs this call.`}
      </p>
    );
  const call = { call: pending, conversation };
  if (kind === 'approval')
    return (
      <OneApproval {...{ session, input, ...call }} agent={pending.agent ?? agent} tool={name} />
    );
  if (kind === 'elicitation') return <Question {...call} />;
  return kind === 'client_execution' ? <ByHand {...call} /> : undefined;
}

function OneApproval(props: {
  readonly session: Session;
  readonly conversation: BrowserConversation;
  readonly call: PendingView;
  readonly input: Json | undefined;
  readonly agent: string;
  readonly tool: string;
}): ReactNode {
  const { session, agent, tool, ...rest } = props;
  const schema = useInputSchema(session.client, { agent, tool });
  return <Approval {...rest} inputSchema={schema} />;
}

/** A call for a page that has its function: this page has none, and the person gives the result in its place. */
function ByHand(props: {
  readonly call: PendingView;
  readonly conversation: BrowserConversation;
}): ReactNode {
  const { call, conversation } = props;
  const { toolCallId, name, prompt, argsDigest, form = { type: 'json', schema: {} } } = call;
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const send = async (resolution: Parameters<BrowserConversation['resolve']>[1]) => {
    setBusy(true);
    try {
      const given = await conversation.resolve(toolCallId, resolution, { argsDigest });
      setProblem(given.verdict === 'invalid' ? given.problems.map(said).join('; ') : '');
    } catch (error) {
      setProblem(whyOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section aria-label={`Result of ${name}`}>
      <p className="hint">
        A page that has this function runs the call. You may give its result by hand.
      </p>
      <Values value={prompt} />
      <Form
        {...{ form, isBusy }}
        errors={{ '': problem }}
        words={{ answer: 'Give the result', answerAsJson: 'Result as JSON', decline: 'Cannot run' }}
        onAnswer={(value) => void send({ type: 'result', value })}
        onDecline={() => void send({ type: 'error', message: 'The page cannot run this call' })}
      />
    </section>
  );
}

function said({ path, message }: { readonly path: string; readonly message: string }): string {
  return `${path} ${message}`.trim();
}
