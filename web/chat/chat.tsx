/** The chat: one conversation with an agent, its calls answered in their places, beside the list of the others. */
import { useConversation, useNestedPending } from 'colloquy/react';
import { type ReactNode, useMemo, useState } from 'react';
import { useRights } from '../session/use-rights.js';
import { Boundary } from '../shared/boundary.js';
import { type FaceProps, Top } from '../shared/face.js';
import { type Listed, useListed } from '../shared/lists/listed.js';
import { Agents } from './agents.js';
import { Drafts } from './hooks/drafts.js';
import { Unsent } from './hooks/unsent.js';
import { type Address, useAddress } from './hooks/use-address.js';
import { Announcer } from './parts/announcer.js';
import { Composer } from './parts/composer.js';
import { Messages } from './parts/messages.js';
import { Sidebar } from './parts/sidebar.js';

export function Chat(props: FaceProps): ReactNode {
  const { address, go, name } = useAddress();
  const [drafts] = useState(() => new Drafts());
  const { client } = props.session;
  const unsent = useMemo(() => new Unsent(client), [client]);
  const { agent } = address;
  if (agent === undefined) return <Agents {...props} onGo={go} />;
  return <OneAgent {...props} {...{ address, agent, drafts, unsent, go, name }} />;
}

function OneAgent(
  props: FaceProps & {
    readonly address: Address;
    readonly agent: string;
    readonly drafts: Drafts;
    readonly unsent: Unsent;
    readonly go: (address: Address) => void;
    readonly name: (address: Address) => void;
  },
): ReactNode {
  const { address, agent, drafts, go, name, session } = props;
  const listed = useListed(session, { agent });
  const fresh = drafts.freshId(agent);
  const id = address.id ?? fresh;
  const onSent = (): void => {
    if (address.id !== undefined) return;
    drafts.begun(agent);
    name({ agent, id });
  };
  const own = { id, listed, onGo: go, onSent, isNew: id === fresh };
  return <Talk key={`${agent} ${id}`} {...props} {...own} />;
}

function Talk(
  props: FaceProps & {
    readonly agent: string;
    readonly id: string;
    /** This page has made the id. */
    readonly isNew: boolean;
    readonly listed: Listed;
    readonly drafts: Drafts;
    readonly unsent: Unsent;
    readonly onGo: (address: Address) => void;
    readonly onSent: () => void;
  },
): ReactNode {
  const { session, onSignOut, onTenant, agent, id, isNew, listed, drafts, onGo, onSent, unsent } =
    props;
  const rights = useRights(session);
  const used = useConversation(unsent.client, id, { agent, isNew });
  const nested = useNestedPending(session.client, used);
  const { conversation, view } = used;
  const { connection } = view;
  const isOther = view.agent !== undefined && view.agent !== agent;
  const shown = { session, conversation, view, agent: view.agent ?? agent };
  return (
    <>
      <Top {...{ session, onSignOut, onTenant, connection }} />
      <main className="chat">
        <Boundary name="The list of conversations" of={listed.view}>
          <Sidebar {...{ agent, id, listed, unsent, onGo }} />
        </Boundary>
        <section className="talk" aria-label={`Conversation ${id}`}>
          <h2 className="talk-head">{shown.agent}</h2>
          {isOther ? (
            <p className="hint">
              This conversation is with {view.agent}, not with {agent}.
            </p>
          ) : undefined}
          <Boundary name="The conversation" of={view}>
            <Messages {...shown} nested={nested} />
            <Announcer {...{ view, nested }} />
          </Boundary>
          {rights.includes('send') ? (
            <Composer {...shown} {...{ drafts, onSent }} />
          ) : (
            <p className="hint">Your token may read this conversation, and send nothing.</p>
          )}
        </section>
      </main>
    </>
  );
}
