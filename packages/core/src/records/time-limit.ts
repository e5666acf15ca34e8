/**
 * What the operation gives, if it gives it in time. What it does afterwards is its own affair: nobody waits for it any more.
 *
 * @param seconds how long it may take.
 * @param who begins the sentence of the error.
 * @throws Error when the time is over.
 */
export function withinTime<T>(operation: Promise<T>, seconds: number, who = 'The storage'): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${who} did not answer within ${seconds} s`)), seconds * 1000)
    operation.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
