/**
 * Component tests: in pages of the same Chromium as the journeys, which the runner starts once for all files. Nothing
 * is built before, and nothing fetched: the runner serves the sources from the loopback address.
 */
import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import type { CDPSession, Page } from 'playwright';
import type { BrowserCommand } from 'vitest/node';
import { PATIENCE } from '../patience.js';
import { CHROMIUM_ARGS, chromiumPlace } from './chromium.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Packages that files import, made ready before the first test: a page that finds another one is loaded anew. */
const PACKAGES = [
  ...['axe-core', 'eventsource-parser', 'markdown-it', 'react', 'react-dom', 'react-dom/client'],
  ...['react/jsx-runtime', 'react/jsx-dev-runtime'],
];

interface Components {
  readonly name: string;
  /** Folder from whose packages the pages are served. */
  readonly root: string;
  /** Folder with the tests. */
  readonly dir: string;
  readonly exclude?: readonly string[];
}

/** The projects with tests in the browser. React 18 has one of its own, for a server has one version of a package. */
export function componentProjects(groupOrder: number) {
  return [
    project(groupOrder, {
      ...{ name: 'components', root: ROOT, dir: `${ROOT}test/components` },
      exclude: ['**/react18/**'],
    }),
    project(groupOrder, {
      ...{ name: 'components-react18', root: `${ROOT}test/support/react18` },
      dir: `${ROOT}test/components/react18`,
    }),
  ];
}

function project(groupOrder: number, { name, root, dir, exclude = [] }: Components) {
  return {
    root,
    resolve: { alias: OWN_PARTS },
    optimizeDeps: { include: PACKAGES, noDiscovery: true },
    test: {
      ...{ name, dir, include: ['**/*.test.{ts,tsx}'], exclude: [...exclude] },
      globalSetup: ['unpacked', 'page-policy'].map(
        (name) => `${ROOT}test/support/browser/${name}.ts`,
      ),
      setupFiles: [`${ROOT}test/components/support/faults.ts`],
      testTimeout: 60_000 * PATIENCE,
      hookTimeout: 60_000 * PATIENCE,
      expect: { poll: { interval: 10, timeout: 10_000 * PATIENCE } },
      sequence: { groupOrder },
      browser: {
        enabled: true,
        headless: true,
        ui: false,
        screenshotFailures: false,
        traceView: false,
        connectTimeout: 60_000 * PATIENCE,
        viewport: { width: 1_000, height: 800 },
        // As in journeys: a part of a name is enough.
        locators: { exact: false },
        testerHtmlPath: `${ROOT}test/components/support/page.html`,
        commands: { preferColors, enlarge },
        instances: [{ browser: 'chromium' as const, name }],
        provider: playwright({
          launchOptions: launchOptions(),
          contextOptions: { reducedMotion: 'reduce' },
          actionTimeout: 20_000 * PATIENCE,
        }),
      },
    },
  };
}

/** The page imports the parts by their public names; the tests have their sources. */
const OWN_PARTS = [
  { find: /^colloquy\/(browser|react)$/, replacement: `${ROOT}src/$1/index.ts` },
  { find: /^colloquy\/browser\/(\w+)$/, replacement: `${ROOT}src/browser/$1/index.ts` },
];

/** The browser itself may come later: `unpacked.ts` waits for it, and says what is missing. */
function launchOptions() {
  const { executablePath, env } = chromiumPlace() ?? { executablePath: '', env: {} };
  return { executablePath, args: CHROMIUM_ARGS, env: { ...process.env, ...env } };
}

/** Each pixel of the page takes this many pixels of the screen in each direction. */
const enlarge: BrowserCommand<[number]> = async ({ context, page }, zoom) => {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  const session = SESSIONS.get(page) ?? (await context.newCDPSession(page));
  SESSIONS.set(page, session);
  await session.send('Emulation.setDeviceMetricsOverride', {
    ...{ width, height, deviceScaleFactor: zoom, mobile: false },
  });
};

/** A session that ends takes the size of its page back. */
const SESSIONS = new WeakMap<Page, CDPSession>();

const preferColors: BrowserCommand<['light' | 'dark']> = async ({ page }, colorScheme) =>
  await page.emulateMedia({ colorScheme });
