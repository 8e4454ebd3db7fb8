/** Values of a model or a person, as text: nothing of them becomes markup. */
import type { ReactNode } from 'react';
import type { Json } from '../../browser/index.js';
import { type OwnWords, wordsOf } from '../words/words.js';
import { type Rendered, rendered } from './rendered.js';

/** Longer texts are folded. */
const LONG_CHARS = 1_500;

export interface ValuesProps {
  /** Undefined shows nothing. */
  readonly value: Json | undefined;
  readonly words?: OwnWords | undefined;
}

/** The fields of an object, one below the other; nested values as JSON. */
export function Values({ value, words }: ValuesProps): Rendered {
  if (value === undefined) return rendered(undefined);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return rendered(<Value value={value} />);
  const fields = Object.entries(value);
  if (fields.length === 0)
    return rendered(<p className="colloquy-help">{wordsOf(words).noArguments}</p>);
  return rendered(
    <dl className="colloquy-values">
      {fields.map(([name, part]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Value value={part as Json} />
          </dd>
        </div>
      ))}
    </dl>,
  );
}

function Value({ value }: { readonly value: Json }): ReactNode {
  const isNested = typeof value === 'object' && value !== null;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, isNested ? 2 : 0);
  if (text.length > LONG_CHARS)
    return (
      <details>
        <summary>
          {text.slice(0, 200)}… ({text.length} characters)
        </summary>
        <pre tabIndex={0}>{text}</pre>
      </details>
    );
  if (isNested) return <pre tabIndex={0}>{text}</pre>;
  return (
    <span className={typeof value === 'string' ? 'colloquy-text' : 'colloquy-text code'}>
      {text === '' ? '“”' : text}
    </span>
  );
}
