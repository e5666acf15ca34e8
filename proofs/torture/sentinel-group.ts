import { Redis } from 'ioredis'
import { pause } from '../../test/support/pause.ts'
import { type Sentinel, startSentinel } from '../../test/support/redis-sentinel.ts'
import { type RedisServer, startRedis } from '../../test/support/redis-server.ts'

/** Two Redis servers, one of them the primary, and a Sentinel that decides which. */
export interface SentinelGroup {
  /** `sentinels` and `name` of the driver. */
  readonly found: {
    readonly sentinels: readonly { readonly host: string; readonly port: number }[]
    readonly name: string
  }
  primary(): Promise<RedisServer>
  /**
   * SIGKILL of the primary; resolves when the replica was promoted and the killed server, started again, follows it.
   *
   * @param lag milliseconds before the kill, at most a second, from which on the replica receives nothing any more
   */
  failOver(lag: number): Promise<void>
  stop(): Promise<void>
}

/** Seconds. */
const timeLimit = 60

/**
 * Milliseconds of silence after which a server counts as down. The Sentinel sends a PING once a second; with 1000 it
 * takes a primary that it has just promoted for down, and promotes the other, which has come back empty (measured: once
 * in six failovers).
 */
const downAfter = 2500

/** A server that changes its role closes its connections: that is not a response, and the command is sent again. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  let cause: unknown
  for (const end = Date.now() + timeLimit * 1000; Date.now() < end; await pause(50)) {
    try {
      if (await isSo()) return
    } catch (error) {
      cause = error
    }
  }
  throw new Error(`Not reached within ${timeLimit} s: ${what}`, { cause })
}

/** Whether the Sentinel reports this server as the primary; it knows a second later than the server itself. */
async function isAnnounced({ port }: RedisServer, sentinel: Sentinel): Promise<boolean> {
  const client = new Redis({ port: sentinel.port, host: '127.0.0.1' })
  try {
    const address = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', sentinel.name)
    return Array.isArray(address) && Number(address[1]) === port
  } finally {
    client.disconnect()
  }
}

/** Whether it has all data of the other. */
async function follows(server: RedisServer, master: RedisServer): Promise<boolean> {
  const role = await server.command('ROLE')
  return Array.isArray(role) && role[0] === 'slave' && role[2] === master.port && role[3] === 'connected'
}

export async function startSentinelGroup(): Promise<SentinelGroup> {
  const servers = [await startRedis(), await startRedis()] as const
  const [first, second] = servers
  const stops: (() => Promise<void>)[] = servers.map((server) => server.stop)
  const stop = async (): Promise<void> => {
    await Promise.all(stops.map((each) => each()))
  }
  try {
    await second.command('REPLICAOF', '127.0.0.1', first.port)
    await until('the replica is in step', () => follows(second, first))
    const sentinel = await startSentinel(first, { downAfter })
    stops.push(sentinel.stop)
    let [primary, replica] = [first, second]
    return {
      found: { sentinels: [{ host: '127.0.0.1', port: sentinel.port }], name: sentinel.name },
      primary: async () => primary,
      async failOver(lag) {
        const [killed, promoted] = [primary, replica]
        if (lag > 0) {
          // To an address without a server: it keeps its data.
          await promoted.command('REPLICAOF', '127.0.0.1', 1)
          await pause(lag)
        }
        await killed.kill()
        await until('the replica is promoted', () => isAnnounced(promoted, sentinel))
        ;[primary, replica] = [promoted, killed]
        // Not before: a server that comes back empty while it still is the primary has lost everything. And not left to
        // the Sentinel, which needs ten seconds for it.
        await killed.restart()
        await killed.command('REPLICAOF', '127.0.0.1', promoted.port)
        await until('the killed one follows', () => follows(killed, promoted))
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
