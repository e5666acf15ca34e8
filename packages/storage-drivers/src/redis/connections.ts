import { type Connection, createConnection } from './connection.ts'
import { assertClient, assertFit } from './fitness.ts'
import type { RedisDriverOptions, RedisSettings } from './options.ts'
import { ownClient } from './own-client.ts'

/** The connections for reads and writes: the same one, unless writes wait for replicas. */
export interface Connections {
  /** Name of the server, for messages. */
  readonly where: string
  readonly reads: Connection
  readonly writes: Connection
  /**
   * Connects and checks the Redis configuration, once. After a failure, the next call tries again. Returns `undefined`
   * when open.
   */
  open(): Promise<void> | undefined
  dispose(): void
}

function connect(
  options: RedisDriverOptions,
  { replicas, timeout }: RedisSettings,
): Pick<Connections, 'where' | 'reads' | 'writes'> {
  if ('client' in options) {
    const { client } = options
    assertClient(client, replicas)
    const given = createConnection(() => client, { where: 'Redis', own: false, timeout })
    return { where: 'Redis', reads: given, writes: given }
  }
  const { where, create } = ownClient(options, timeout)
  const own = (): Connection => createConnection(create, { where, own: true, timeout })
  const writes = own()
  // WAIT blocks its connection, so reads get their own.
  return { where, writes, reads: replicas > 0 ? own() : writes }
}

/** @throws TypeError when the address is malformed, or when the options of the caller's client are unsafe. */
export function createConnections(options: RedisDriverOptions, settings: RedisSettings): Connections {
  const { where, reads, writes } = connect(options, settings)
  const all = [...new Set([writes, reads])]
  let opened: Promise<void> | undefined
  let isOpen = false
  let isDisposed = false

  const close = (): void => {
    for (const connection of all) connection.close()
  }

  async function openAll(): Promise<void> {
    const { replicas, patience } = settings
    try {
      await Promise.all(all.map((connection) => connection.connect()))
      await Promise.all(
        all.map((connection) =>
          assertFit(connection, where, { count: connection === writes ? replicas : 0, patience }),
        ),
      )
    } catch (error) {
      // Leave no reconnection attempts behind in a program that could not start.
      close()
      throw new Error(`storage: ${(error as Error).message}`)
    }
  }

  return {
    where,
    reads,
    writes,
    open() {
      if (isDisposed) return Promise.reject(new Error(`${where} was disposed of`))
      if (isOpen) return undefined
      opened ??= openAll().then(
        () => {
          isOpen = true
        },
        (error) => {
          opened = undefined
          throw error
        },
      )
      return opened
    },
    dispose() {
      isDisposed = true
      close()
    },
  }
}
