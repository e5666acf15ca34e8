import { assertClientOptions, assertServer } from './check-server.ts'
import { clientFactory } from './client-factory.ts'
import { type Connection, createConnection } from './redis-connection.ts'
import type { RedisDriverOptions, RedisSettings } from './redis-options.ts'

/** The connections for reads and writes: the same one, unless writes wait for replicas. */
export interface Connections {
  /** Name of the server, for messages. */
  readonly serverName: string
  readonly reads: Connection
  readonly writes: Connection
  /**
   * Connects and checks the Redis configuration, once. After a failure, the next call tries again. Returns `undefined`
   * when all connections are open, so that operations do not await a promise each time.
   */
  open(): Promise<void> | undefined
  dispose(): void
}

function connect(
  options: RedisDriverOptions,
  { replicas, timeout }: RedisSettings,
): Pick<Connections, 'serverName' | 'reads' | 'writes'> {
  if ('client' in options) {
    const { client } = options
    assertClientOptions(client)
    const connection = createConnection(() => client, { serverName: 'Redis', isOwned: false, timeout })
    return { serverName: 'Redis', reads: connection, writes: connection }
  }
  const { serverName, create } = clientFactory(options, timeout)
  const newConnection = (): Connection => createConnection(create, { serverName, isOwned: true, timeout })
  const writes = newConnection()
  // WAIT blocks its connection, so reads get their own.
  return { serverName, writes, reads: replicas > 0 ? newConnection() : writes }
}

/** @throws TypeError when the address is malformed, or when the options of the caller's client are unsafe. */
export function createConnections(options: RedisDriverOptions, settings: RedisSettings): Connections {
  const { serverName, reads, writes } = connect(options, settings)
  const all = [...new Set([writes, reads])]
  let opening: Promise<void> | undefined
  let isOpen = false
  let isDisposed = false

  const close = (): void => {
    for (const connection of all) connection.close()
  }

  async function connectAndCheck(): Promise<void> {
    const { replicas, replicaTimeout } = settings
    try {
      await Promise.all(all.map((connection) => connection.connect()))
      await Promise.all(
        all.map((connection) =>
          assertServer(connection, serverName, {
            count: connection === writes ? replicas : 0,
            timeout: replicaTimeout,
          }),
        ),
      )
    } catch (error) {
      // Otherwise ioredis keeps reconnecting, and a program that could not start does not exit.
      close()
      throw new Error(`storage: ${(error as Error).message}`)
    }
  }

  return {
    serverName,
    reads,
    writes,
    open() {
      if (isDisposed) return Promise.reject(new Error(`${serverName} was disposed of`))
      if (isOpen) return undefined
      opening ??= connectAndCheck().then(
        () => {
          isOpen = true
        },
        (error) => {
          opening = undefined
          throw error
        },
      )
      return opening
    },
    dispose() {
      isDisposed = true
      close()
    },
  }
}
