/** Asks for a token: on a page of its own, or over the page that goes on with it. */
import { type ReactNode, type SyntheticEvent, useEffect, useId, useRef, useState } from 'react';
import { signInProblem } from './session.js';

type OnToken = (token: string) => Promise<void>;

export function SignIn(props: { readonly title: string; readonly onToken: OnToken }): ReactNode {
  const { title, onToken } = props;
  return (
    <main className="narrow">
      <h1>{title}</h1>
      <TokenForm onToken={onToken} />
      <p className="hint">
        A token of this API: an API key, a token of your identity provider, or the secret that{' '}
        <code>colloquy dev</code> prints. It is kept for this tab only.
      </p>
    </main>
  );
}

/** Keeps the page below as it is. */
export function SignInAgain(props: {
  readonly actor: string;
  readonly onToken: OnToken;
  readonly onSignOut: () => void;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="again"
      onCancel={(event) => {
        event.preventDefault();
      }}
    >
      <h2 id="again">Sign in again</h2>
      <p>
        The API no longer takes the token of {props.actor}. What you have typed stays, and answers
        on their way are sent afterwards. As another person you begin anew.
      </p>
      <TokenForm onToken={props.onToken} />
      <button type="button" className="plain" onClick={props.onSignOut}>
        Sign out
      </button>
    </dialog>
  );
}

function TokenForm({ onToken }: { readonly onToken: OnToken }): ReactNode {
  const id = useId();
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SyntheticEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      await onToken(token.trim());
    } catch (error) {
      setProblem(signInProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="token" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>Token</label>
      <input
        id={id}
        type="password"
        autoComplete="current-password"
        required
        value={token}
        aria-describedby={`${id}-problem`}
        onChange={(event) => setToken(event.target.value)}
      />
      <button type="submit" disabled={isBusy}>
        Sign in
      </button>
      <p id={`${id}-problem`} role="alert">
        {problem}
      </p>
    </form>
  );
}
