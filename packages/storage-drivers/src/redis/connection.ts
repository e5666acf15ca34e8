import { createDeadlines } from './deadlines.ts'
import type { RedisClient } from './own-client.ts'
import { isReplyError } from './reply-error.ts'

/** A client whose every operation ends in time, and whose every failure is a sentence. */
export interface Connection {
  readonly client: RedisClient
  /** Connects an own client. */
  connect(): Promise<void>
  /** Asks Redis. Rejects after `timeout` at the latest; when it resolves, the connection counts as well. */
  run<T>(operate: () => Promise<T>): Promise<T>
  /** An error with a sentence and nothing else: ioredis puts the arguments of a command, passwords too, into its errors. */
  explain(error: unknown): Error
  /** An error that says where, and what. */
  failure(what: string): Error
  /** Ends an own client, for good; `connect()` makes another one. */
  close(): void
}

export interface ConnectionSettings {
  /** For sentences. */
  readonly where: string
  /** Whether the driver makes the client: then it connects, resets and ends it. */
  readonly own: boolean
  /** Milliseconds. */
  readonly timeout: number
}

// "ERR unknown command 'x', with args beginning with: ..."
const withoutArguments = (message: string): string => message.replace(/, with args beginning with.*$/su, '')

// What ioredis rejects commands with when there is no connection.
const lost =
  /^(?:Connection is closed|Stream isn't writeable|Reached the max retries|Command aborted|Cluster isn't ready|None of startup nodes)/u

/** Whatever goes wrong, it is a rejection. */
function begun<T>(operate: () => Promise<T>): Promise<T> {
  try {
    return operate()
  } catch (error) {
    return Promise.reject(error)
  }
}

export function createConnection(create: () => RedisClient, { where, own, timeout }: ConnectionSettings): Connection {
  const deadlines = createDeadlines(timeout)
  const silence = `no answer within ${timeout / 1000} s`
  const explained = new WeakSet<object>()
  function inWords(message: string): string {
    if (message === 'Command timed out') return silence
    return lost.test(message) ? 'no connection' : message
  }
  /** What went wrong with the connection last, in words: what commands are rejected with tells nothing. */
  let trouble: string | undefined
  /** By performance.now(). */
  let answeredAt = 0
  let isUsed = false
  let client = make()

  function make(): RedisClient {
    const made = create()
    if (!own) return made
    const note = (error: Error & { readonly lastNodeError?: Error | null }): void => {
      trouble = inWords((error.lastNodeError ?? error).message)
    }
    // Without a listener for errors ioredis prints them.
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
    if (isReplyError(error)) return failure(`has refused: ${withoutArguments(error.message)}`)
    const message = error instanceof Error ? error.message : String(error)
    return failure(`is not available: ${trouble ?? inWords(message)}`)
  }

  /** A server that stopped, or went without a word, leaves a connection on which nothing ever comes. Clients of a cluster see to it themselves. */
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
      // A client of ioredis that was disconnected while it waited to connect again takes its next loss for meant, and stays away for good.
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
