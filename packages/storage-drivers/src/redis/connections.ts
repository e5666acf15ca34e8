import { type Connection, createConnection } from './connection.ts'
import { assertClient, assertFit } from './fitness.ts'
import type { RedisDriverOptions, RedisSettings } from './options.ts'
import { ownClient } from './own-client.ts'

/** A connection to read over and one to write over: one and the same, unless writes wait for replicas. */
export interface Connections {
  /** For sentences. */
  readonly where: string
  readonly reads: Connection
  readonly writes: Connection
  /** Connects and looks whether Redis is fit, once. After a failure, the next call tries again. `undefined`: that is done. */
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
  // A connection that waits for replicas does nothing else meanwhile.
  return { where, writes, reads: replicas > 0 ? own() : writes }
}

/** @throws TypeError when the place is malformed, or a client that was given would break a promise of the driver. */
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
      // Nothing goes on in the background of a program that could not start.
      close()
      throw new Error(`storage: ${(error as Error).message}`)
    }
  }

  return {
    where,
    reads,
    writes,
    open() {
      if (isDisposed) return Promise.reject(new Error(`${where} has been disposed of`))
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
