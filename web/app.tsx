/** The page: the sign-in, or the face of its address for the person who is signed in. */
import { ApiError } from 'colloquy/browser';
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { FACES } from './faces.js';
import {
  forgetToken,
  inTenant,
  keptToken,
  type Session,
  signIn,
  signInAgain,
} from './session/session.js';
import { SignIn, SignInAgain } from './session/sign-in.js';
import { Boundary } from './shared/boundary.js';
import { placeOf } from './shared/places.js';

const { place } = placeOf(location.pathname);
/** Begun at once, so that the code comes while the person signs in. */
const loading = FACES[place.name]();
const Face = lazy(async () => ({ default: await loading }));

type State =
  | { readonly is: 'starting' }
  | { readonly is: 'out' }
  | { readonly is: 'in'; readonly session: Session };

export function App(): ReactNode {
  useEffect(() => {
    document.title = place.title;
  }, []);
  const [state, setState] = useState<State>(() => ({
    is: keptToken() === undefined ? 'out' : 'starting',
  }));
  useEffect(() => {
    if (state.is !== 'starting') return;
    return restore((session) =>
      setState(session === undefined ? { is: 'out' } : { is: 'in', session }),
    );
  }, [state.is]);
  const signedIn = (session: Session): void => setState({ is: 'in', session });
  if (state.is === 'starting')
    return (
      <main className="narrow">
        <h1>{place.title}</h1>
        <p role="status">Waits for an answer of the API …</p>
      </main>
    );
  if (state.is === 'out')
    return <SignIn title={place.title} onToken={async (token) => signedIn(await signIn(token))} />;
  const { session } = state;
  const signOut = (): void => {
    forgetToken();
    setState({ is: 'out' });
  };
  return (
    <SignedIn
      session={session}
      onSignOut={signOut}
      onTenant={(tenant) => signedIn(inTenant(session, tenant))}
      onToken={async (token) => signedIn(await signInAgain(session, token))}
    />
  );
}

function SignedIn(props: {
  readonly session: Session;
  readonly onSignOut: () => void;
  readonly onTenant: (tenant: string) => void;
  readonly onToken: (token: string) => Promise<void>;
}): ReactNode {
  const { session, onSignOut, onTenant, onToken } = props;
  const isRefused = useSyncExternalStore(session.subscribe, session.isRefused);
  const { actor, verified } = session.caller;
  return (
    <>
      {verified ? undefined : (
        <aside className="notice" aria-label="Identity">
          Nothing proves who you are: you act as the development identity <b>{actor.id}</b>, on this
          machine only.
        </aside>
      )}
      {/* Another person, or tenant, gets nothing of the one before. */}
      <Boundary
        key={JSON.stringify([session.tenant, actor.id])}
        name={`The page ${place.title}`}
        onAgain={() => location.reload()}
      >
        <Suspense>
          <Face {...{ session, onSignOut, onTenant }} />
        </Suspense>
      </Boundary>
      {isRefused ? (
        <SignInAgain actor={actor.id} onToken={onToken} onSignOut={onSignOut} />
      ) : undefined}
    </>
  );
}

const RETRY_MS = 1_000;

/** Signs in with the kept token, over the time in which the API does not answer. Returns how to stop. */
function restore(done: (session: Session | undefined) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  const attempt = async (): Promise<void> => {
    try {
      const session = await signIn(keptToken() ?? '');
      if (!isStopped) done(session);
    } catch (error) {
      if (isStopped) return;
      if (error instanceof ApiError && error.isPassing)
        timer = setTimeout(() => void attempt(), RETRY_MS);
      else {
        forgetToken();
        done(undefined);
      }
    }
  };
  void attempt();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
