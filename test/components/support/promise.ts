/** As `test/support/promise.ts`, in a page: the runner itself refuses a tag that test/promises does not have. */
export function promise(...ids: readonly [string, ...string[]]): { readonly tags: string[] } {
  return { tags: [...ids] };
}
