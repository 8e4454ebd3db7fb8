/**
 * The faults that the page has shown. A module of its own: the runner loads its setup file apart from imports of it.
 */
const faults: string[] = [];

export function addFault(fault: string): void {
  faults.push(fault);
}

/** The faults since the last call; the test does not fail for them. */
export function takeFaults(): readonly string[] {
  return faults.splice(0);
}
