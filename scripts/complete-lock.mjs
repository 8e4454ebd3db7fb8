// npm run lock: completes package-lock.json after an `npm install` from a registry that lacks some platforms.
//
// A mirror may have only the Linux builds of a native package. npm then writes a lock file without the others, and `npm
// ci` refuses that file everywhere. Their versions are known, because the parent names them exactly. Their checksums
// are not: npm adds those at the next `npm install` from a registry that has them.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const SYSTEMS = ['openharmony', 'android', 'darwin', 'freebsd', 'linux', 'openbsd', 'win32'];
const PROCESSORS = ['arm64', 'x64', 'ia32', 'ppc64', 's390x', 'riscv64', 'loong64', 'arm'];

const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (
      !/^\d+\.\d+\.\d+[\w.-]*$/.test(version) ||
      lock.packages[path] ||
      lock.packages[`${parent}/${path}`]
    )
      continue;
    const os = SYSTEMS.find((system) => name.includes(system));
    const cpu = PROCESSORS.find((processor) => name.includes(processor));
    if (os === undefined || cpu === undefined) {
      console.error(
        `lock: ${name}@${version} of ${parent} is missing, and its name has no platform`,
      );
      process.exitCode = 1;
      continue;
    }
    lock.packages[path] = {
      version,
      cpu: [cpu],
      ...(entry.dev ? { dev: true } : {}),
      ...(os === 'linux' ? { libc: [name.includes('musl') ? 'musl' : 'glibc'] } : {}),
      optional: true,
      os: [os],
    };
    added.push(`${name}@${version}`);
  }
}
if (added.length > 0) {
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.error(`lock: ${added.length} entries added`);
