/** Acts on a conversation. Messages and answers are for the conversation as it is now, also while the cursor is earlier. */
import { type ReactNode, useMemo } from 'react';
import { useRights } from '../../session/use-rights.js';
import { turnAt } from '../model/cursor.js';
import { Answers } from './answers.js';
import { Delete } from './delete.js';
import { Export } from './export.js';
import { Fork, Retry } from './fork.js';
import type { ActsProps } from './props.js';
import { Send } from './send.js';
import { WhatIf } from './what-if.js';
import { WhatIfs } from './what-ifs.js';

export function Acts(props: ActsProps): ReactNode {
  const { session, id } = props;
  const rights = useRights(session);
  const conversation = useMemo(() => session.client.conversation(id), [session, id]);
  const sent = { ...props, conversation };
  const turn = turnAt(props.turns, props.log.index);
  const maySend = rights.includes('send');
  return (
    <section className="pane acts" aria-label="Acts">
      {rights.includes('answer') ? <Answers {...sent} /> : undefined}
      {maySend ? <Send {...sent} /> : undefined}
      {maySend && rights.includes('read') ? (
        <>
          <Retry key={turn?.turnId} {...props} turn={turn} />
          <Fork {...props} />
          <WhatIf {...props} />
        </>
      ) : undefined}
      {rights.includes('read') ? <WhatIfs {...props} /> : undefined}
      <Export {...props} />
      {rights.includes('delete') ? <Delete {...props} /> : undefined}
    </section>
  );
}
