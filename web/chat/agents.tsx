/** The agents with whom a conversation can begin. */
import { type AgentManifest, agentsOf } from 'colloquy/browser/worklist';
import { type ReactNode, useEffect, useState } from 'react';
import { type FaceProps, Top } from '../shared/face.js';
import { whyOf } from '../shared/why.js';
import type { Address } from './hooks/use-address.js';
import { PlaceLink } from './parts/sidebar.js';

export function Agents(
  props: FaceProps & { readonly onGo: (address: Address) => void },
): ReactNode {
  const { session, onGo } = props;
  const [agents, setAgents] = useState<readonly AgentManifest[]>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let isGone = false;
    agentsOf(session.client).then(
      (read) => {
        if (!isGone) setAgents(read);
      },
      (error: unknown) => {
        if (!isGone) setProblem(whyOf(error));
      },
    );
    return () => {
      isGone = true;
    };
  }, [session.client]);
  return (
    <>
      <Top {...props} />
      <main className="narrow agents">
        <h2>Agents</h2>
        <p className="error" role="alert">
          {problem}
        </p>
        {agents?.length === 0 ? <p className="hint">No worker serves an agent.</p> : undefined}
        <ul>
          {agents?.map(({ name, description }) => (
            <li key={name}>
              <PlaceLink address={{ agent: name }} onGo={onGo}>
                {name}
              </PlaceLink>
              <p className="hint">{description}</p>
            </li>
          ))}
        </ul>
      </main>
    </>
  );
}
