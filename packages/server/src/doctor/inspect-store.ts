import type { AtomicDriver } from '@grantry/core'
import type { StoreFact } from './facts.ts'

interface RedisClient {
  time(): Promise<readonly (string | number)[]>
  readonly isCluster?: boolean
  nodes?(role: 'master'): readonly RedisClient[]
}

interface ServerState {
  readonly time: number
  readonly hasAsynchronousReplicas: boolean
}

type AnyDriver = AtomicDriver & {
  serverState?(): Promise<ServerState>
  getInstance?(): RedisClient
  getMeta?(key: string): Promise<{ readonly mtime: Date } | null>
}

const probe = 'probe:clock'

/** Returns the time of the store in epoch milliseconds; `undefined` if it has no clock of its own. */
async function storeTimeOf(driver: AnyDriver): Promise<number | undefined> {
  if (driver.name === 'redis' && driver.getInstance !== undefined) {
    const client = driver.getInstance()
    const node = client.isCluster === true ? client.nodes?.('master')[0] : client
    // The Redis user may lack the permission for TIME. Its clock is unknown then.
    const [seconds, microseconds] = (await node?.time().catch(() => [])) ?? []
    return seconds === undefined ? undefined : Number(seconds) * 1000 + Number(microseconds) / 1000
  }
  if (driver.name === 'filesystem' && driver.getMeta !== undefined) {
    // The modification time comes from another machine if the disk is a network share.
    await driver.setItem(probe, '{}', { ttl: 60 })
    const meta = await driver.getMeta(probe)
    await driver.removeItem(probe, {})
    return meta?.mtime.getTime()
  }
  return undefined
}

/** Inspects an open storage. */
export async function inspectStore(driver: AnyDriver): Promise<StoreFact> {
  const startedAt = Date.now()
  const state = await driver.serverState?.()
  const storeTime = state?.time ?? (await storeTimeOf(driver))
  // Subtracts half of the round trip.
  const localTime = (startedAt + Date.now()) / 2
  return {
    reachable: true,
    driver,
    clockAhead: storeTime === undefined ? undefined : (storeTime - localTime) / 1000,
    hasAsynchronousReplicas: state?.hasAsynchronousReplicas === true,
  }
}
