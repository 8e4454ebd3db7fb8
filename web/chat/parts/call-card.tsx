/** One call of the agent: its tool and state, and what the person may do about it, in its place. */
import type {
  BrowserConversation,
  CallView,
  Json,
  NestedPendingView,
  PendingView,
} from 'colloquy/browser';
import { overSentence, Values } from 'colloquy/react';
import { type ReactNode, useMemo } from 'react';
import type { Session } from '../../session/session.js';
import { useRights } from '../../session/use-rights.js';
import { AnswerCall } from '../../shared/answer-call.js';
import { useCoarseNow } from '../../shared/now.js';
import { callWords, pathWords } from '../model/words.js';

export interface CallProps {
  readonly session: Session;
  readonly conversation: BrowserConversation;
  /** The agent of the conversation. */
  readonly agent: string;
  /** Waiting calls of its sub-agents. */
  readonly nested: readonly NestedPendingView[];
}

export function CallCard(props: CallProps & { readonly call: CallView }): ReactNode {
  const { session, call, nested } = props;
  const below = nested.filter(({ path }) => path[0].toolCallId === call.toolCallId);
  const { name, state, pending, input, argumentsJson = '', progress, result, decided } = call;
  return (
    <article className={`call ${state}`} aria-label={`Call of ${name}`}>
      <p className="call-head">
        <b>{pending?.title ?? name}</b> <span className="hint">{callWords(call)}</span>
      </p>
      {decided === undefined ? undefined : <Decision call={call} me={session.caller.actor.id} />}
      {progress === undefined ? undefined : <Values value={progress} />}
      {pending === undefined ? undefined : <Waiting {...props} pending={pending} input={input} />}
      {below.map((one) => (
        <NestedCall key={one.ref} session={session} pending={one} />
      ))}
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

/** A call of a sub-agent, which is answered in the sub-agent's conversation. */
export function NestedCall({
  session,
  pending,
}: Pick<CallProps, 'session'> & { readonly pending: NestedPendingView }): ReactNode {
  const { client } = session;
  const { conversationId, agent, name, title, path } = pending;
  const conversation = useMemo(() => client.conversation(conversationId), [client, conversationId]);
  const place = pathWords(path);
  // Sub-agents side by side may wait with calls of the same tool.
  const named = { ...pending, title: `${title ?? name}, ${place}` };
  return (
    <article className="call nested" aria-label={`Call of ${name}, ${place}`}>
      <p className="call-head">
        <b>{title ?? name}</b>{' '}
        <span className="hint">
          {agent}, asked by {place}
        </span>
      </p>
      <Waiting {...{ session, conversation, agent }} pending={named} />
    </article>
  );
}

/** The part by which the person answers a waiting call: each of several has its own. */
export function Waiting(
  props: Omit<CallProps, 'nested'> & {
    readonly pending: PendingView;
    readonly input?: Json | undefined;
  },
): ReactNode {
  const { session, conversation, agent, pending, input } = props;
  const { state, claim } = pending;
  const rights = useRights(session);
  if (state !== 'waiting_for_you' || !rights.includes('answer'))
    return (
      <p className="hint">
        {claim === undefined ? 'Others may answer this call.' : `${claim.by} runs this call.`}
      </p>
    );
  return <AnswerCall {...{ session, conversation, agent, input }} call={pending} />;
}
