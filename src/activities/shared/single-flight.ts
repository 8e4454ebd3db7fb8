/** Shares requests that several callers make at the same time. */

/**
 * Makes a request once for all callers that make it at the same time: they get the same answer, or the same failure. A
 * later caller makes a new request, so nothing is cached here. The question has to be JSON.
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
