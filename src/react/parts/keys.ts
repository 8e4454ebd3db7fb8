/** Keys of decisions: Enter presses no button of one; with Ctrl or Meta it sends a form or a reason. */

interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  preventDefault(): void;
}

export function notByEnter(event: Key): void {
  if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) event.preventDefault();
}

/** Whether the key sends. False while an input method composes a text: Enter ends that. */
export function isSendKey(
  event: Omit<Key, 'preventDefault'> & { readonly nativeEvent: { readonly isComposing: boolean } },
): boolean {
  const { key, ctrlKey, metaKey, nativeEvent } = event;
  return key === 'Enter' && (ctrlKey || metaKey) && !nativeEvent.isComposing;
}
