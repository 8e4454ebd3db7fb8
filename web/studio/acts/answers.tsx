/** Answers the calls that wait now, as a person or in place of a client. */
import { formOf, type Json, type Resolution } from 'colloquy/browser';
import { Values, verdictSentence } from 'colloquy/react';
import { type ReactNode, useState } from 'react';
import { AnswerForm } from '../../inbox/detail/answer-form.js';
import { OutcomeForm } from '../../inbox/detail/outcome-form.js';
import type { Draft } from '../../inbox/hooks/drafts.js';
import { notByEnter } from '../../inbox/model/keys.js';
import { useAct } from '../hooks/use-act.js';
import type { SentProps } from './props.js';
import { Said } from './said.js';

export function Answers(props: SentProps): ReactNode {
  const { view } = props.log;
  const now = view.replay.at(view.replay.events.length - 1).snapshot;
  const pending = now?.pending ?? [];
  return pending.map((call) => <Answer key={call.toolCallId} {...props} call={call} />);
}

type Waiting = NonNullable<SentProps['log']['place']['snapshot']>['pending'][number];

function Answer(props: SentProps & { readonly call: Waiting }): ReactNode {
  const { call, conversation } = props;
  const { toolCallId, name, kind, prompt, argsDigest, reason } = call;
  const [draft, onDraft] = useState<Draft>({});
  const act = useAct();
  const answer = (resolution: Resolution): void =>
    act.run(async () => {
      const verdict = await conversation.resolve(toolCallId, resolution, { argsDigest });
      return verdictSentence(verdict, resolution.type, Date.now()).text;
    });
  const common = { draft, onDraft, isBusy: act.isBusy, onAnswer: answer };
  return (
    <section className="said untrusted" aria-label={`Waits: ${name}`}>
      <h3>{name} waits</h3>
      {reason === undefined ? undefined : <p className="text">{reason}</p>}
      <Values value={prompt} />
      {kind === 'approval' ? (
        <Approval {...common} />
      ) : kind === 'outcome' ? (
        <OutcomeForm {...common} />
      ) : kind === 'elicitation' ? (
        <AnswerForm form={formOf(call.answerSchema ?? {})} verdict={undefined} {...common} />
      ) : (
        <Result {...common} />
      )}
      <Said act={act} />
    </section>
  );
}

interface AnswerProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly isBusy: boolean;
  readonly onAnswer: (resolution: Resolution) => void;
}

function Approval({ draft, onDraft, isBusy, onAnswer }: AnswerProps): ReactNode {
  const { reason = '' } = draft;
  return (
    <>
      <label className="field">
        Reason of a denial
        <input
          value={reason}
          onChange={({ target }) => onDraft({ ...draft, reason: target.value })}
        />
      </label>
      <div className="actions">
        <button
          type="button"
          className="good"
          disabled={isBusy}
          onKeyDown={notByEnter}
          onClick={() => onAnswer({ type: 'approve' })}
        >
          Approve
        </button>
        <button
          type="button"
          className="bad"
          disabled={isBusy}
          onKeyDown={notByEnter}
          onClick={() => onAnswer({ type: 'deny', ...(reason === '' ? {} : { reason }) })}
        >
          Deny
        </button>
      </div>
    </>
  );
}

/** The result of a call that a client or another backend runs. */
function Result({ draft, onDraft, isBusy, onAnswer }: AnswerProps): ReactNode {
  const [problem, setProblem] = useState('');
  const { json = '' } = draft;
  const send = (): void => {
    try {
      onAnswer({ type: 'result', value: JSON.parse(json) as Json });
      setProblem('');
    } catch {
      setProblem('The result is not JSON.');
    }
  };
  return (
    <>
      <label className="field">
        Result as JSON
        <textarea
          value={json}
          onChange={({ target }) => onDraft({ ...draft, json: target.value })}
        />
      </label>
      <p className="error" role="alert">
        {problem}
      </p>
      <div className="actions">
        <button type="button" disabled={isBusy} onClick={send}>
          Give the result
        </button>
        <button
          type="button"
          disabled={isBusy}
          onClick={() => onAnswer({ type: 'error', message: 'given up in the studio' })}
        >
          Report a failure
        </button>
      </div>
    </>
  );
}
