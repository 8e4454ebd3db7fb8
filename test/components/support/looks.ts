/** The looks of a page, and its rules of accessibility. */
import axe from 'axe-core';
import { expect, onTestFinished } from 'vitest';
import { commands, page } from 'vitest/browser';
import type { Look } from '../../support/pages/look-list.js';

const HEIGHT = 800;

declare module 'vitest/browser' {
  interface BrowserCommands {
    readonly preferColors: (scheme: Look['colorScheme']) => Promise<void>;
    readonly enlarge: (zoom: number) => Promise<void>;
  }
}

/** Gives the page this look until the test ends. */
export async function look(wanted: Look): Promise<void> {
  onTestFinished(async () => await change({ colorScheme: 'light', width: 1_000, zoom: 1 }));
  await change(wanted);
}

async function change({ colorScheme, width, zoom }: Look): Promise<void> {
  await commands.preferColors(colorScheme);
  await page.viewport(width / zoom, HEIGHT / zoom);
  await commands.enlarge(zoom);
}

/** Loads the style sheet into the page. */
export async function withStyles(href: string): Promise<void> {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  await new Promise((resolve, reject) => {
    link.addEventListener('load', resolve);
    link.addEventListener('error', () => reject(new Error(`${href} cannot be loaded`)));
    document.head.append(link);
  });
}

/** One line for each element that breaks a rule of axe: WCAG A and AA, and its best practices. */
export async function accessibilityFaults(): Promise<readonly string[]> {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** Checks the page, and that nothing needs a bar to scroll sideways. */
export async function expectAccessible(state: string): Promise<void> {
  expect(await accessibilityFaults(), state).toEqual([]);
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth === clientWidth) return;
  const ends = [...document.querySelectorAll('body *')].map(
    (element) => `${element.tagName}.${element.className} ${element.getBoundingClientRect().right}`,
  );
  expect(ends, state).toEqual([]);
}
