/** The pictures of docs/web.md, taken from the page as it is. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { ROOT } from '../processes.js';

const FOLDER = `${ROOT}docs/pictures`;
const MAX_BYTES = 50_000;

/**
 * Takes the picture `docs/pictures/<name>.webp`, and compares its size, and that of the kept one, with the bound: the
 * pictures are part of the package. COLLOQUY_WRITE_DOCS=1 writes the picture.
 */
export async function picture(of: Page | Locator, name: string): Promise<void> {
  const bytes = await webp(of);
  const file = `${FOLDER}/${name}.webp`;
  if (process.env['COLLOQUY_WRITE_DOCS'] === '1') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, bytes);
  }
  expect([bytes.length, readFileSync(file).length].filter((size) => size > MAX_BYTES)).toEqual([]);
}

/** Playwright itself writes PNG and JPEG only, which are several times as large. */
async function webp(of: Page | Locator): Promise<Buffer> {
  const page = 'page' in of ? of.page() : of;
  const clip = 'page' in of ? await of.boundingBox() : null;
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', {
    ...{ format: 'webp', quality: 60 },
    ...(clip === null ? {} : { clip: { ...clip, scale: 1 } }),
  });
  await session.detach();
  return Buffer.from(data, 'base64');
}
