/** Remembered decisions: those that are known for the tool, and the choice to remember the next one. */
import type { Json, Remember as Remembered, Rule } from 'colloquy/browser';
import { type ReactNode, useState } from 'react';
import type { Session } from '../../session/session.js';
import { useRights } from '../../session/use-rights.js';
import { newId } from '../../shared/new-id.js';
import { useNow } from '../../shared/now.js';
import { whyOf } from '../../shared/why.js';
import type { Draft } from '../hooks/drafts.js';
import { isMatched, knownRules, matchable, scopeWords, withMatch } from '../model/remember.js';

export function Rules(props: {
  readonly session: Session;
  readonly conversationId: string;
  readonly rules: readonly Rule[] | undefined;
  readonly tool: string;
  readonly turnId: string;
  readonly input: Json | undefined;
}): ReactNode {
  const known = knownRules(props.rules, props, useNow());
  const { session, conversationId } = props;
  const [said, revoke] = useRevoke(session, conversationId);
  const mayRevoke = useRights(session).includes('answer');
  if (known.length === 0) return said === '' ? undefined : <p role="status">{said}</p>;
  return (
    <section aria-label="Remembered decisions">
      <h3>Remembered decisions</h3>
      <ul>
        {known.map(({ rule, text, fits }) => (
          <li key={rule.ruleId} className="text">
            {text}.{fits ? ' It would decide a later call with these arguments.' : ''}{' '}
            {mayRevoke ? (
              <button type="button" aria-label={`Revoke: ${text}`} onClick={() => revoke(rule)}>
                Revoke
              </button>
            ) : undefined}
          </li>
        ))}
      </ul>
      <p role="status">{said}</p>
    </section>
  );
}

/** Takes a remembered decision back: the stream of the conversation then has the rules without it. */
function useRevoke(
  { client }: Session,
  conversationId: string,
): readonly [string, (rule: Rule) => void] {
  const [said, say] = useState('');
  const revoke = async ({ ruleId }: Rule): Promise<void> => {
    say('Revokes it …');
    const path = ['conversations', conversationId, 'rules', ruleId].map(encodeURIComponent);
    try {
      await client.api.change(
        `/v1/${path.join('/')}`,
        { requestId: newId() },
        { method: 'DELETE' },
      );
      say('Revoked: later calls ask again.');
    } catch (error) {
      say(`Not revoked: ${whyOf(error)}`);
    }
  };
  return [said, (rule) => void revoke(rule)];
}

export function Remember(props: {
  readonly tool: string;
  readonly input: Json | undefined;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}): ReactNode {
  const { tool, input, draft, onDraft } = props;
  const { remember } = draft;
  const set = (next: Remembered | undefined): void => onDraft({ ...draft, remember: next });
  return (
    <div className="remember">
      <label>
        Remember the decision{' '}
        <select
          value={remember?.for ?? ''}
          onChange={({ target: { value } }) =>
            set(value === '' ? undefined : { ...remember, for: value as Remembered['for'] })
          }
        >
          <option value="">no</option>
          <option value="turn">until this turn ends</option>
          <option value="conversation">in this conversation</option>
        </select>
      </label>
      {remember === undefined ? undefined : (
        <>
          <fieldset>
            <legend>Only for calls with</legend>
            {matchable(input).map((entry) => (
              <label key={entry[0]} className="check text">
                <input
                  type="checkbox"
                  checked={isMatched(remember, entry[0])}
                  onChange={(event) => set(withMatch(remember, entry, event.target.checked))}
                />{' '}
                {entry[0]} = {JSON.stringify(entry[1])}
              </label>
            ))}
          </fieldset>
          <p className="hint text" role="status">
            The decision is for {scopeWords(tool, remember)}, too.
          </p>
        </>
      )}
    </div>
  );
}
