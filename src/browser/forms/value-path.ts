/** The place of a problem within the value of an answer: the API names it within the request, `/resolution/value/day`. */
export function valuePath(path: string): string {
  return path.replace(/^\/resolution(?:\/value)?(?=\/|$)/, '');
}
