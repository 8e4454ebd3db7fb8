/** Global setup: the browser of the package is unpacked, or this machine has another one. */
import { findChromium } from './chromium.js';

export async function setup(): Promise<void> {
  await findChromium();
}
