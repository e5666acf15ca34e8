import type { Redis } from 'ioredis'
import { rejecting } from '../storage-error.ts'
import type { RedisClient } from './client-factory.ts'
import { createTurn } from './turn.ts'

/** Whether the error is a reply of the server. Compares the name: two copies of ioredis may be loaded. */
export const isReplyError = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError'

/** A client whose operations have a time limit and readable errors. */
export interface Connection {
  readonly client: RedisClient
  /** Connects a client that the driver created; does nothing for a client of the caller. */
  connect(): Promise<void>
  /** Runs a command. Rejects after `timeout` at the latest. Success also clears the last connection error. */
  run<T>(operate: () => Promise<T>): Promise<T>
  /** Runs a task at the end of this turn of the event loop. Its commands are written with those of the turn. */
  atEndOfTurn(task: () => void): void
  /** Returns an error with a message only: the errors of ioredis contain command arguments, including passwords. */
  explain(error: unknown): Error
  /** Returns an error that names the server and the problem. */
  createError(what: string): Error
  /** Disconnects a client that the driver created. `connect()` creates a new one. */
  close(): void
}

export interface ConnectionSettings {
  /** Name of the server, for messages. */
  readonly serverName: string
  /** Whether the driver creates the client, and therefore connects, resets and closes it. */
  readonly isOwned: boolean
  /** Milliseconds. */
  readonly timeout: number
}

// "ERR unknown command 'x', with args beginning with: ..."
const withoutArguments = (message: string): string => message.replace(/, with args beginning with.*$/su, '')

// Errors of ioredis when there is no connection.
const noConnection =
  /^(?:Connection is closed|Stream isn't writeable|Reached the max retries|Command aborted|Cluster isn't ready|None of startup nodes)/u

/** Creates the errors of a connection. They name its last problem, which those of rejected commands do not. */
function createErrors(serverName: string, timeout: number) {
  const timeoutMessage = `no response within ${timeout / 1000} s`
  const created = new WeakSet<object>()
  /** The last connection error, as text. */
  let last: string | undefined

  function describe(message: string): string {
    if (message === 'Command timed out') return timeoutMessage
    return noConnection.test(message) ? 'no connection' : message
  }

  function create(what: string): Error {
    const error = new Error(`${serverName} ${what}`)
    created.add(error)
    return error
  }

  return {
    create,
    explain(error: unknown): Error {
      if (error instanceof Error && created.has(error)) return error
      if (isReplyError(error)) return create(`returned an error: ${withoutArguments(error.message)}`)
      const message = error instanceof Error ? error.message : String(error)
      return create(`is not available: ${last ?? describe(message)}`)
    },
    timedOut: (): Error => create(`is not available: ${last ?? timeoutMessage}`),
    remember(error: Error & { readonly lastNodeError?: Error | null }): void {
      last = describe((error.lastNodeError ?? error).message)
    },
    rememberTimeout(): void {
      last = timeoutMessage
    },
    forget(): void {
      last = undefined
    },
  }
}

export function createConnection(
  create: () => RedisClient,
  { serverName, isOwned, timeout }: ConnectionSettings,
): Connection {
  const errors = createErrors(serverName, timeout)
  /** The number of replies. */
  let replies = 0
  let isUsed = false
  let client = newClient()
  const turn = createTurn(() => ('stream' in client ? client.stream : undefined))

  function newClient(): RedisClient {
    const created = create()
    if (!isOwned) return created
    // Without an error listener, ioredis prints errors.
    created.on('error', errors.remember)
    created.on('node error', errors.remember)
    return created
  }

  /**
   * Reconnects: a server that hangs or vanishes silently leaves a dead connection. Cluster clients handle this
   * themselves.
   */
  function reset(): void {
    if (!isOwned || client.isCluster || client.status !== 'ready') return
    errors.rememberTimeout()
    client.disconnect(true)
  }

  function run<T>(operate: () => Promise<T>): Promise<T> {
    turn.holdWrites()
    return new Promise((resolve, reject) => {
      const before = replies
      const timer = setTimeout(() => {
        if (replies === before) reset()
        reject(errors.timedOut())
      }, timeout)
      Promise.resolve(rejecting(operate)).then(
        (reply) => {
          clearTimeout(timer)
          replies += 1
          errors.forget()
          resolve(reply)
        },
        (error) => {
          clearTimeout(timer)
          if (isReplyError(error)) replies += 1
          reject(errors.explain(error))
        },
      )
    })
  }

  return {
    get client() {
      return client
    },
    async connect() {
      if (!isOwned) return
      // An ioredis client that is disconnected while it waits to reconnect treats its next connection loss as intended
      // and never reconnects.
      if (isUsed) client = newClient()
      isUsed = true
      await run(() => client.connect())
    },
    run,
    atEndOfTurn: turn.atEnd,
    explain: errors.explain,
    createError: errors.create,
    close() {
      if (isOwned) client.disconnect()
    },
  }
}

/** Returns every server that holds items: the single server, or the current primaries of a cluster. */
export async function primariesOf({ client, run }: Connection): Promise<readonly Redis[]> {
  if (!('nodes' in client)) return [client]
  // ioredis drops lost nodes from its list until it refreshes the slots; a key listing would silently miss their items.
  await run(
    () =>
      new Promise<void>((resolve, reject) => {
        client.refreshSlotsCache((error) => (error ? reject(error) : resolve()))
      }),
  )
  return client.nodes('master')
}
