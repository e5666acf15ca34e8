import { after, allOf } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { Client } from './client.ts'
import type { ClientDirectory } from './clients.ts'

/** Milliseconds for which a client that was found counts as current: longer than most requests take. */
const currentFor = 10_000

/** Lets steps of a request that follow each other look a client up once. Without a client store, a look-up costs nothing. */
export function rememberFinds(directory: ClientDirectory, runtime: Pick<Runtime, 'elapsed'>): ClientDirectory {
  if (!directory.hasUnlisted) return directory
  const foundAt = new WeakMap<Client, number>()

  function isCurrent(client: Client): boolean {
    const age = runtime.elapsed() - (foundAt.get(client) ?? Number.NEGATIVE_INFINITY)
    return age >= 0 && age <= currentFor
  }

  function note(client: Client | undefined): Client | undefined {
    if (client !== undefined) foundAt.set(client, runtime.elapsed())
    return client
  }

  return {
    ...directory,
    find: (clientId, found, caller) =>
      found?.clientId === clientId && isCurrent(found)
        ? found
        : after(directory.find(clientId, undefined, caller), note),
  }
}

/** Whether any of the results is true. A look-up that failed decides only if no other one allows it. */
async function anyOf(results: readonly MaybePromise<boolean>[]): Promise<boolean> {
  const settled = await Promise.allSettled(results)
  if (settled.some((result) => result.status === 'fulfilled' && result.value === true)) return true
  const failed = settled.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return false
}

/** What a directory without the client finds. */
const nothing = (): undefined => undefined

/**
 * Combines the clients of the host with those of plugins. The function of the host that compares secrets applies to its
 * own clients only.
 */
export function combineClients(host: ClientDirectory, sources: readonly ClientDirectory[]): ClientDirectory {
  const all = [host, ...sources]
  /** By client: the directory that has found it. */
  const owners = new WeakMap<Client, ClientDirectory>()

  /** Returns the client if exactly one directory knows it. */
  function only(found: readonly (Client | undefined)[]): Client | undefined {
    const [at, ...more] = found.flatMap((client, index) => (client === undefined ? [] : [index]))
    const [client, owner] = at === undefined || more.length > 0 ? [] : [found[at], all[at]]
    if (client !== undefined && owner !== undefined) owners.set(client, owner)
    return client
  }

  return {
    find: (clientId, _found, caller) =>
      after(
        allOf(
          all.map((directory) =>
            directory.matches?.(clientId) === false ? nothing() : directory.find(clientId, undefined, caller),
          ),
        ),
        only,
      ),
    renewed(client) {
      const owner = owners.get(client)
      return after(owner?.renewed?.(client), (present) => {
        if (present !== undefined && owner !== undefined) owners.set(present, owner)
        return present
      })
    },
    secretsOf: (client) => (owners.get(client) ?? host).secretsOf(client),
    isKnown: (clientId) => all.some((directory) => directory.isKnown(clientId)),
    secretVerifierOf: (client) => (client === undefined ? host : (owners.get(client) ?? host)).secretVerifierOf(client),
    isOriginAllowed: (origin) => anyOf(all.map((directory) => directory.isOriginAllowed(origin))),
    all: host.all,
    hasUnlisted: true,
  }
}
