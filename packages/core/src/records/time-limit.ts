/**
 * Returns the result of a storage operation, or rejects after a time limit. A later result is ignored.
 *
 * @param seconds the time limit.
 * @throws Error when the operation takes longer.
 */
export function withinTime<T>(operation: Promise<T>, seconds: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = (): void => reject(new Error(`The storage did not respond within ${seconds} s`))
    const timer = setTimeout(late, seconds * 1000)
    operation.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
