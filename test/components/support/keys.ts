/** Keys of a real keyboard. */
import { type Locator, userEvent } from 'vitest/browser';

/** Presses keys, one after the other: `Enter`, `Space`, `Control+Enter`. */
export async function press(...keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const names = key.split('+').map((name) => (name === 'Space' ? '[Space]' : `{${name}}`));
    const last = names.pop() ?? '';
    const held = names.map((name) => name.replace('}', '>}')).join('');
    const freed = names.map((name) => name.replace('{', '{/')).join('');
    await userEvent.keyboard(`${held}${last}${freed}`);
  }
}

/** Types a text into the field that has the focus. */
export async function type(text: string): Promise<void> {
  await userEvent.keyboard(text);
}

export function focus(locator: Locator): void {
  (locator.element() as HTMLElement).focus();
}
