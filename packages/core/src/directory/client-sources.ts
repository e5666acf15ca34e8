import { after, allOf, isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { Client } from './client.ts'
import type { ClientDirectory, UnknownCaller } from './client-directory.ts'
import { isClientRefusal } from './client-refusal.ts'

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
    find: (clientId, known, caller) =>
      known?.clientId === clientId && isCurrent(known)
        ? known
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

/** What a source knows about an id. */
interface Finding {
  readonly client?: Client | undefined
  /** The error that the source has thrown. */
  readonly failure?: unknown
  /** Whether no further source is asked. */
  readonly isFinal: boolean
}

const nothing: Finding = { isFinal: false }
const findingOf = (client: Client | undefined): Finding => (client === undefined ? nothing : { client, isFinal: true })

/** After an outage, it is not known whether the source has the client. */
const failed = (failure: unknown): Finding => ({
  failure: failure ?? new Error('A source of clients has failed'),
  isFinal: !isClientRefusal(failure),
})

/** Asks a source, unless the id cannot be one of its clients. Never rejects. */
function ask(source: ClientDirectory, clientId: string, caller: UnknownCaller | undefined): MaybePromise<Finding> {
  if (source.matches?.(clientId) === false) return nothing
  const outcome = source.find(clientId, undefined, caller)
  return isThenable(outcome) ? outcome.then(findingOf, failed) : findingOf(outcome)
}

/** Combines findings: a client counts if exactly one source knows it, and a refusal of one source hides no other. */
function together(findings: readonly Finding[]): Finding {
  const outage = findings.find(({ isFinal, failure }) => isFinal && failure !== undefined)
  const [known, ...more] = findings.filter(({ client }) => client !== undefined)
  if (outage !== undefined || more.length > 0) return outage ?? { isFinal: true }
  return known ?? findings.find(({ failure }) => failure !== undefined) ?? nothing
}

function clientOf({ client, failure }: Finding): Client | undefined {
  if (failure !== undefined) throw failure
  return client
}

/**
 * Combines the clients of the host with those of plugins: the host's come first, because the configuration decides, and
 * those of sources that yield last. The function of the host that compares secrets applies to its own clients only.
 *
 * @see docs/decisions/0068-clients-of-plugins.md
 */
export function combineClients(host: ClientDirectory, sources: readonly ClientDirectory[]): ClientDirectory {
  const all = [host, ...sources]
  const others = sources.filter(({ yields = false }) => !yields)
  const yielding = sources.filter(({ yields = false }) => yields)
  /** By client: the directory that has found it. */
  const owners = new WeakMap<Client, ClientDirectory>()

  const asking = (clientId: string, caller: UnknownCaller | undefined) => (source: ClientDirectory) =>
    after(ask(source, clientId, caller), (finding) => {
      if (finding.client !== undefined) owners.set(finding.client, source)
      return finding
    })

  return {
    find(clientId, _known, caller) {
      const askOne = asking(clientId, caller)
      const fromHost = askOne(host)
      if (!isThenable(fromHost) && fromHost.isFinal) return clientOf(fromHost)
      // While a host with a store reads its client.
      const asked = others.map(askOne)
      return after(fromHost, (first) => {
        if (first.isFinal) return clientOf(first)
        return after(allOf(asked), (findings) => {
          const earlier = together([first, ...findings])
          if (earlier.isFinal) return clientOf(earlier)
          return after(allOf(yielding.map(askOne)), (last) => clientOf(together([earlier, ...last])))
        })
      })
    },
    renewed(client) {
      const owner = owners.get(client)
      return after(owner?.renewed?.(client), (present) => {
        if (present !== undefined && owner !== undefined) owners.set(present, owner)
        return present
      })
    },
    reread(client) {
      const owner = owners.get(client) ?? host
      return after(owner.reread(client), (present) => {
        if (present !== undefined) owners.set(present, owner)
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
