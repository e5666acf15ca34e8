import type { AtomicDriver } from '@grantry/core'
import type { StoreFact } from './facts.ts'

interface RedisClient {
  time(): Promise<readonly (string | number)[]>
  readonly isCluster?: boolean
  nodes?(role: 'master'): readonly RedisClient[]
}

type AnyDriver = AtomicDriver & {
  getInstance?(): RedisClient
  getMeta?(key: string): Promise<{ readonly mtime: Date } | null>
  readonly incrementItem?: unknown
}

const probe = 'probe:clock'

/** Epoch milliseconds by the clock of the store; `undefined` where it has none of its own. */
async function clockOf(driver: AnyDriver): Promise<number | undefined> {
  if (driver.name === 'redis' && driver.getInstance !== undefined) {
    const client = driver.getInstance()
    const node = client.isCluster === true ? client.nodes?.('master')[0] : client
    // A user of Redis need not have the right to ask; then nothing is known of its clock.
    const [seconds, microseconds] = (await node?.time().catch(() => [])) ?? []
    return seconds === undefined ? undefined : Number(seconds) * 1000 + Number(microseconds) / 1000
  }
  if (driver.name === 'filesystem' && driver.getMeta !== undefined) {
    // The clock of the disk: another machine's, where somebody put it on a network.
    await driver.setItem(probe, '{}', { ttl: 60 })
    const meta = await driver.getMeta(probe)
    await driver.removeItem(probe, {})
    return meta?.mtime.getTime()
  }
  return undefined
}

/** What a storage that was opened says of itself. */
export async function lookAtStore(driver: AnyDriver): Promise<StoreFact> {
  const asked = Date.now()
  const clock = await clockOf(driver)
  // Half of the way there and back.
  const ours = (asked + Date.now()) / 2
  return {
    reachable: true,
    driver,
    counts: typeof driver.incrementItem === 'function',
    clockAhead: clock === undefined ? undefined : (clock - ours) / 1000,
  }
}
