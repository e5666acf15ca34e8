import { createDeadlines } from './deadlines.ts'
import type { RedisClient } from './own-client.ts'
import { isReplyError } from './reply-error.ts'

/** A client whose operations have a time limit and readable errors. */
export interface Connection {
  readonly client: RedisClient
  /** Connects a client that the driver created; does nothing for a client of the caller. */
  connect(): Promise<void>
  /** Runs a command. Rejects after `timeout` at the latest. Success also clears the last connection error. */
  run<T>(operate: () => Promise<T>): Promise<T>
  /** Returns an error with a message only: the errors of ioredis contain command arguments, including passwords. */
  explain(error: unknown): Error
  /** Returns an error that names the server and the problem. */
  failure(what: string): Error
  /** Disconnects a client that the driver created. `connect()` creates a new one. */
  close(): void
}

export interface ConnectionSettings {
  /** Name of the server, for messages. */
  readonly where: string
  /** Whether the driver creates the client, and therefore connects, resets and closes it. */
  readonly own: boolean
  /** Milliseconds. */
  readonly timeout: number
}

// "ERR unknown command 'x', with args beginning with: ..."
const withoutArguments = (message: string): string => message.replace(/, with args beginning with.*$/su, '')

// Errors of ioredis when there is no connection.
const lost =
  /^(?:Connection is closed|Stream isn't writeable|Reached the max retries|Command aborted|Cluster isn't ready|None of startup nodes)/u

/** Turns a synchronous throw into a rejection. */
function begun<T>(operate: () => Promise<T>): Promise<T> {
  try {
    return operate()
  } catch (error) {
    return Promise.reject(error)
  }
}

export function createConnection(create: () => RedisClient, { where, own, timeout }: ConnectionSettings): Connection {
  const deadlines = createDeadlines(timeout)
  const silence = `no response within ${timeout / 1000} s`
  const explained = new WeakSet<object>()
  function inWords(message: string): string {
    if (message === 'Command timed out') return silence
    return lost.test(message) ? 'no connection' : message
  }
  /** The last connection error, as text: the errors of rejected commands do not contain it. */
  let trouble: string | undefined
  /** Time of the last reply, by `performance.now()`. */
  let answeredAt = 0
  let isUsed = false
  let client = make()

  function make(): RedisClient {
    const made = create()
    if (!own) return made
    const note = (error: Error & { readonly lastNodeError?: Error | null }): void => {
      trouble = inWords((error.lastNodeError ?? error).message)
    }
    // Without an error listener, ioredis prints errors.
    made.on('error', note)
    made.on('node error', note)
    return made
  }

  function failure(what: string): Error {
    const error = new Error(`${where} ${what}`)
    explained.add(error)
    return error
  }

  function explain(error: unknown): Error {
    if (error instanceof Error && explained.has(error)) return error
    if (isReplyError(error)) return failure(`returned an error: ${withoutArguments(error.message)}`)
    const message = error instanceof Error ? error.message : String(error)
    return failure(`is not available: ${trouble ?? inWords(message)}`)
  }

  /**
   * Reconnects: a server that hangs or vanishes silently leaves a dead connection. Cluster clients handle this
   * themselves.
   */
  function reset(): void {
    if (!own || client.isCluster || client.status !== 'ready') return
    trouble = silence
    client.disconnect(true)
  }

  function run<T>(operate: () => Promise<T>): Promise<T> {
    const asked = performance.now()
    return new Promise((resolve, reject) => {
      const stop = deadlines.start(() => {
        if (answeredAt < asked) reset()
        reject(failure(`is not available: ${trouble ?? silence}`))
      })
      begun(operate).then(
        (answer) => {
          stop()
          answeredAt = performance.now()
          trouble = undefined
          resolve(answer)
        },
        (error) => {
          stop()
          if (isReplyError(error)) answeredAt = performance.now()
          reject(explain(error))
        },
      )
    })
  }

  return {
    get client() {
      return client
    },
    async connect() {
      if (!own) return
      // An ioredis client that is disconnected while it waits to reconnect treats its next connection loss as intended
      // and never reconnects.
      if (isUsed) client = make()
      isUsed = true
      await run(() => client.connect())
    },
    run,
    explain,
    failure,
    close() {
      if (own) client.disconnect()
    },
  }
}
