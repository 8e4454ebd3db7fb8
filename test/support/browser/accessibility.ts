/** Rules of accessibility that a page breaks, as axe finds them. */
import axe from 'axe-core';
import type { Page } from 'playwright';

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** One line for each element that breaks a rule of axe: WCAG A and AA, and its best practices. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  // A document keeps axe, half a megabyte of code, until the page is left.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const found = await page.evaluate<readonly Finding[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
}
