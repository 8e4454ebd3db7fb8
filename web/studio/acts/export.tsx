/** Exports the conversation as a test. A refusal names the event that a test cannot play again. */
import { testOf } from 'colloquy/browser/studio';
import { type ReactNode, useState } from 'react';
import { CopyButton } from '../../shared/copy.js';
import { useAct } from '../../shared/use-act.js';
import type { ActsProps } from './props.js';
import { Said } from './said.js';

export function Export({ session, id }: ActsProps): ReactNode {
  const act = useAct();
  const [text, setText] = useState<string>();
  const exported = (): void =>
    act.run(async () => {
      setText(undefined);
      setText(await testOf(session.client, id));
      return 'A test that passes as it stands:';
    });
  return (
    <section aria-label="Export">
      <h3>Export as a test</h3>
      <button type="button" disabled={act.isBusy} onClick={exported}>
        Export
      </button>
      <Said act={act} />
      {text === undefined ? undefined : (
        <>
          <div className="actions">
            <CopyButton text={text}>Copy the test</CopyButton>
          </div>
          <pre tabIndex={0} aria-label="Test">
            {text}
          </pre>
        </>
      )}
    </section>
  );
}
