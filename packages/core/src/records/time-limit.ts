/**
 * The result of a storage operation, if it is there in time. A later result is ignored.
 *
 * @param seconds how long the operation may take.
 * @throws Error when the time is over.
 */
export function withinTime<T>(operation: Promise<T>, seconds: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = (): void => reject(new Error(`The storage did not answer within ${seconds} s`))
    const timer = setTimeout(late, seconds * 1000)
    operation.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
