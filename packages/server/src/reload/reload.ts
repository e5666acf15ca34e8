import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { errorInFile, errorMessage } from '../error-message.ts'
import { configurationEvent } from '../observability/adapter-reports.ts'
import type { ReloadRefusal, ServerObserver } from '../observability/server-event.ts'

/**
 * The members that a running process cannot change: they belong to the storage, whose connections and, in memory, whose
 * tokens would be lost, to the listeners, or to everything that was issued (`issuer`).
 */
const fixed = [
  'issuer',
  'storage',
  'tls',
  'trustedProxies',
  'clientCertificate',
  'maxRequests',
  'maxBodies',
  'maxConnections',
  'idleTimeout',
  'metrics',
] as const satisfies readonly (keyof CheckedConfiguration)[]

/** Returns the members of `tenants` that a running process cannot change, because they route requests. */
const fixedOf = ({ tenants }: CheckedConfiguration): unknown => tenants && { ...tenants, list: undefined }

/** Returns the paths of the members that differ, and that only a restart can change. */
function restartOnly(before: CheckedConfiguration, after: CheckedConfiguration): readonly string[] {
  const members = fixed.filter((member) => !isDeepStrictEqual(before[member], after[member]))
  const nested = [
    ...(isDeepStrictEqual(fixedOf(before), fixedOf(after)) ? [] : ['tenants, except for tenants.list']),
    ...(before.log.format === after.log.format ? [] : ['log.format']),
  ]
  return [...members, ...nested]
}

/**
 * Returns a function that runs `run`, never twice at the same time. Calls during a run share one more run, which begins
 * when it has ended: what a caller has changed before its call is seen, and a thousand calls cost two runs.
 */
export function createReloadQueue<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  let next: Promise<T> | undefined

  function begin(): Promise<T> {
    next = undefined
    running = run().finally(() => {
      running = undefined
    })
    return running
  }

  return () => {
    if (next !== undefined) return next
    if (running === undefined) return begin()
    next = running.then(begin, begin)
    return next
  }
}

/** The result of an attempt to read the configuration again. */
export interface ReloadOutcome {
  readonly reloaded: boolean
  /** Why it was refused. */
  readonly reason?: ReloadRefusal
  /** One sentence for the operator. */
  readonly message: string
}

export interface ReloadOptions<O> {
  /** Reads the configuration; absent for the demo, which has none. */
  readonly read: (() => Promise<LoadedConfiguration>) | undefined
  /** Returns the configuration that is used. */
  readonly current: () => CheckedConfiguration
  /** Opens a provider for a configuration. Rejects if a start would refuse the configuration. */
  readonly open: (loaded: LoadedConfiguration) => Promise<O>
  /** Serves new requests with the opened provider. */
  readonly replace: (opened: O) => void
  /** Closes an opened provider that is not used. */
  readonly discard: (opened: O) => Promise<void>
  readonly isStopping: () => boolean
  readonly observe: ServerObserver
}

const refused = (reason: ReloadRefusal, message: string): ReloadOutcome => ({ reloaded: false, reason, message })

const stopping = (): ReloadOutcome => refused('stopping', 'the configuration was not read: the server is stopping')

function mistake(cause: unknown): ReloadOutcome {
  return refused('invalid', `the configuration was not changed: ${errorMessage(cause)}`)
}

/** Names everything that cannot be changed, so that the operator need not try again for each member. */
function needsRestart(file: string, members: readonly string[]): ReloadOutcome {
  const names = members.join(', ')
  return refused('restart_needed', `the configuration was not changed: ${file}: restart the server to change ${names}`)
}

/**
 * Returns a function that reads the configuration again. The configuration is checked completely, and used completely
 * or not at all. Two runs never overlap. The function never rejects.
 */
export function createReload<O>(options: ReloadOptions<O>): () => Promise<ReloadOutcome> {
  const { read, current, open, replace, discard, isStopping, observe } = options

  async function replaceBy(loaded: LoadedConfiguration): Promise<ReloadOutcome> {
    const { file } = loaded
    const members = restartOnly(current(), loaded.configuration)
    if (members.length > 0) return needsRestart(file, members)
    const opened = await open(loaded).catch((cause: unknown) => {
      throw errorInFile(cause, file, loaded.configuration)
    })
    if (isStopping()) {
      await discard(opened)
      return stopping()
    }
    replace(opened)
    return { reloaded: true, message: `the configuration was read again: ${file}` }
  }

  async function attempt(): Promise<ReloadOutcome> {
    if (isStopping()) return stopping()
    if (read === undefined) return mistake(new TypeError('this is the demo, which has no configuration file'))
    try {
      return await replaceBy(await read())
    } catch (cause) {
      // A server that is stopping closes its storage.
      return isStopping() ? stopping() : mistake(cause)
    }
  }

  return createReloadQueue(async () => {
    const outcome = await attempt()
    const { reloaded, ...rest } = outcome
    observe(configurationEvent({ type: reloaded ? 'configuration_reloaded' : 'configuration_refused', ...rest }))
    return outcome
  })
}
