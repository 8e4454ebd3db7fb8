/** Questions that several may have at the same time. */

/**
 * Asks the same question once for all that have it at the same time: they get the same answer, or the same failure. Whoever comes later
 * asks anew, so that nothing is remembered here. The question has to be JSON.
 */
export function singleFlight<Question extends readonly unknown[], Answer>(
  ask: (...question: Question) => Promise<Answer>,
): (...question: Question) => Promise<Answer> {
  const asked = new Map<string, Promise<Answer>>();
  return async (...question) => {
    const name = JSON.stringify(question);
    const known = asked.get(name);
    if (known !== undefined) return await known;
    const answer = ask(...question).finally(() => {
      asked.delete(name);
    });
    asked.set(name, answer);
    return await answer;
  };
}
