import { codeOf } from './errors.ts'
import type { LdapConnection } from './ldap-connection.ts'

interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/** A number of slots, and a queue for them. */
interface Slots {
  acquire(): Promise<void>
  release(): void
  /** Rejects those that wait, and later ones. */
  close(): void
}

const closed = (): Error => new Error('the connections were closed')

function createSlots(max: number): Slots {
  const waiting = new Set<Waiting>()
  let used = 0
  let isClosed = false
  return {
    async acquire() {
      if (isClosed) throw closed()
      if (used >= max) return new Promise<void>((resolve, reject) => void waiting.add({ resolve, reject }))
      used += 1
      return undefined
    },
    release() {
      const [next] = waiting
      if (next === undefined) {
        used -= 1
        return
      }
      // The slot is passed on, so `used` does not change.
      waiting.delete(next)
      next.resolve()
    },
    close() {
      isClosed = true
      for (const each of waiting) each.reject(closed())
      waiting.clear()
    },
  }
}

/** Connections of one kind, each of which performs one operation at a time. */
export interface LdapPool {
  /** Performs an operation on a free connection. Rejects after the time limit, which includes the wait for one. */
  run<T>(operate: (connection: LdapConnection) => Promise<T>): Promise<T>
  close(): void
}

/** The part of an operation that has a time limit. */
interface Attempt {
  connection: LdapConnection | undefined
  isLate: boolean
}

/**
 * @param open opens a connection; it is closed after an error that is not a result of the server
 * @param limits `timeout` in milliseconds
 */
export function createPool(
  open: () => Promise<LdapConnection>,
  { max, timeout }: { readonly max: number; readonly timeout: number },
): LdapPool {
  const slots = createSlots(max)
  const idle: LdapConnection[] = []
  let isClosed = false

  /** The connection that became free last is the least likely to be closed by the server. */
  function take(): LdapConnection | undefined {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop())
      if (connection.isOpen()) return connection
    return undefined
  }

  function free(connection: LdapConnection, error?: unknown): void {
    const isUsable = error === undefined || codeOf(error) !== undefined
    if (isUsable && !isClosed && connection.isOpen()) idle.push(connection)
    else connection.destroy()
  }

  async function perform<T>(operate: (connection: LdapConnection) => Promise<T>, attempt: Attempt): Promise<T> {
    await slots.acquire()
    try {
      // No request waits for it any more.
      if (attempt.isLate) throw new Error('the operation waited too long')
      const connection = take() ?? (await open())
      attempt.connection = connection
      if (attempt.isLate) connection.destroy()
      try {
        const result = await operate(connection)
        free(connection)
        return result
      } catch (error) {
        free(connection, error)
        throw error
      }
    } finally {
      slots.release()
    }
  }

  return {
    async run(operate) {
      const attempt: Attempt = { connection: undefined, isLate: false }
      const operation = perform(operate, attempt)
      let timer: NodeJS.Timeout | undefined
      const limit = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          attempt.isLate = true
          attempt.connection?.destroy()
          reject(new Error(`no response within ${timeout / 1000} s`))
        }, timeout)
      })
      try {
        return await Promise.race([operation, limit])
      } finally {
        clearTimeout(timer)
        // After the time limit, the outcome is ignored.
        operation.catch(() => {})
      }
    },
    close() {
      isClosed = true
      slots.close()
      for (const connection of idle.splice(0)) connection.destroy()
    },
  }
}
