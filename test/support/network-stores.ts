import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgresql } from './postgresql-server.ts'
import { startRedis } from './redis-server.ts'

/** How a server, or `driverAt()`, finds a store: the `storage` of a configuration. */
export type NetworkStore =
  | { readonly driver: 'redis' | 'postgresql'; readonly url: string }
  | { readonly driver: 'sqlite'; readonly file: string }

/** A store for the servers of one proof. */
export type StartedStore = NetworkStore & { stop(): Promise<void> }

/** The stores that several processes can share: those on a network, and a file. */
export const networkStores = {
  async redis(): Promise<StartedStore> {
    const { url, stop } = await startRedis()
    return { driver: 'redis', url, stop }
  },
  async postgresql(): Promise<StartedStore> {
    const { url, stop } = await startPostgresql()
    return { driver: 'postgresql', url, stop }
  },
  async sqlite(): Promise<StartedStore> {
    const directory = await mkdtemp(join(tmpdir(), 'grantry-proof-'))
    return {
      driver: 'sqlite',
      file: join(directory, 'grantry.db'),
      stop: () => rm(directory, { recursive: true, force: true }),
    }
  },
} as const

/**
 * The store for servers whose time limits are not under test: on a busy machine, a first connection can take longer than
 * the usual two seconds, and a server that starts would end.
 */
export const patient = (storage: object): object =>
  'directory' in storage ? storage : { ...storage, operationTimeout: 60 }

/** Starts the store of this name. @throws TypeError for another name */
export function startNetworkStore(name: string): Promise<StartedStore> {
  if (name === 'redis' || name === 'postgresql' || name === 'sqlite') return networkStores[name]()
  throw new TypeError(`--store: there is no "${name}"; use ${Object.keys(networkStores).join(', ')}`)
}
