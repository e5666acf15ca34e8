import type { LdapConnection } from './connection.ts'
import { codeOf } from './errors.ts'

/** Connections of one kind, each of which performs one operation at a time. */
export interface LdapPool {
  /** Performs an operation on a free connection. Rejects after the time limit, which includes the wait for one. */
  run<T>(operate: (connection: LdapConnection) => Promise<T>): Promise<T>
  close(): void
}

interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/**
 * @param open opens a connection; it is closed after an error that is not a result of the server
 * @param limits `timeout` in milliseconds
 */
export function createPool(
  open: () => Promise<LdapConnection>,
  { max, timeout }: { readonly max: number; readonly timeout: number },
): LdapPool {
  const idle: LdapConnection[] = []
  const waiting = new Set<Waiting>()
  let used = 0
  let isClosed = false

  async function acquire(): Promise<void> {
    if (isClosed) throw new Error('the connections were closed')
    if (used < max) {
      used += 1
      return
    }
    await new Promise<void>((resolve, reject) => waiting.add({ resolve, reject }))
  }

  /** Passes the place on, so `used` does not change. */
  function release(): void {
    const [next] = waiting
    if (next === undefined) {
      used -= 1
      return
    }
    waiting.delete(next)
    next.resolve()
  }

  /** The last one that became free is the least likely to be closed by the server. */
  function take(): LdapConnection | undefined {
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) if (found.isOpen()) return found
    return undefined
  }

  function free(connection: LdapConnection, error?: unknown): void {
    const isUsable = error === undefined || codeOf(error) !== undefined
    if (isUsable && !isClosed && connection.isOpen()) idle.push(connection)
    else connection.destroy()
  }

  async function perform<T>(
    operate: (connection: LdapConnection) => Promise<T>,
    begin: (connection: LdapConnection) => void,
  ): Promise<T> {
    const connection = take() ?? (await open())
    begin(connection)
    try {
      const result = await operate(connection)
      free(connection)
      return result
    } catch (error) {
      free(connection, error)
      throw error
    }
  }

  return {
    async run(operate) {
      let current: LdapConnection | undefined
      let isLate = false
      const begin = (connection: LdapConnection): void => {
        current = connection
        if (isLate) connection.destroy()
      }
      const operation = acquire().then(() => perform(operate, begin).finally(release))
      let timer: NodeJS.Timeout | undefined
      const limit = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          isLate = true
          current?.destroy()
          reject(new Error(`no response within ${timeout / 1000} s`))
        }, timeout)
      })
      try {
        return await Promise.race([operation, limit])
      } finally {
        clearTimeout(timer)
        // After the time limit, nothing waits for the outcome any more.
        operation.catch(() => {})
      }
    },
    close() {
      isClosed = true
      for (const connection of idle.splice(0)) connection.destroy()
      for (const each of waiting) each.reject(new Error('the connections were closed'))
      waiting.clear()
    },
  }
}
