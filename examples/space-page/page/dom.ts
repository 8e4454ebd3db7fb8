/** Elements made of text: nothing here, or anywhere in the page, makes elements of a string. */

export type Child = Node | string;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  fields: Partial<HTMLElementTagNameMap[Tag]> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), fields);
  made.append(...children);
  return made;
}

export function svg(
  tag: 'svg' | 'rect' | 'text',
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Child[]
): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** An element of the page's own HTML. */
export function byId<Type extends HTMLElement>(id: string): Type {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found as Type;
}
