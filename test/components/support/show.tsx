/** Components as a person sees them: rendered into the document, in strict mode. */
import { type ReactNode, StrictMode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';

let root: Root | undefined;

/** Shows the element in place of the one before, with its effects. */
export function show(element: ReactNode): void {
  const place = document.getElementById('root');
  if (place === null) throw new Error('the page has no root');
  root ??= createRoot(place);
  const shown = root;
  flushSync(() => shown.render(<StrictMode>{element}</StrictMode>));
}

/** The same as the content of a page, which has a heading. */
export function showPart(element: ReactNode): void {
  show(
    <main>
      <h1>Page</h1>
      {element}
    </main>,
  );
}

/** Takes away all that is shown. */
export function hide(): void {
  root?.unmount();
  root = undefined;
}
