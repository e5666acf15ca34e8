import { startPostgresql } from './postgresql-server.ts'
import { startRedis } from './redis-server.ts'

/** How a server, or `driverAt()`, finds a store: the `storage` of a configuration. */
export interface NetworkStore {
  readonly driver: 'redis' | 'postgresql'
  readonly url: string
}

/** A store for the servers of one proof. */
export interface StartedStore extends NetworkStore {
  stop(): Promise<void>
}

/** The stores that several machines can share. */
export const networkStores = {
  async redis(): Promise<StartedStore> {
    const { url, stop } = await startRedis()
    return { driver: 'redis', url, stop }
  },
  async postgresql(): Promise<StartedStore> {
    const { url, stop } = await startPostgresql()
    return { driver: 'postgresql', url, stop }
  },
} as const

/** Starts the store of this name. @throws TypeError for another name */
export function startNetworkStore(name: string): Promise<StartedStore> {
  if (name === 'redis' || name === 'postgresql') return networkStores[name]()
  throw new TypeError(`--store: there is no "${name}"; use ${Object.keys(networkStores).join(', ')}`)
}
