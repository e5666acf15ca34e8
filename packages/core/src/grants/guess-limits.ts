import { addressGroupOf } from '../abuse/address-group.ts'
import { createWindowLimit, type LimitDeps, type WindowLimit } from '../abuse/window-limit.ts'
import { createBoundedMap } from '../bounded-map.ts'
import { tooManyFailures } from '../errors/oauth-error.ts'
import type { Kit } from '../plugin/kit.ts'

/** More than a plugin needs. Bounds the memory if a plugin computes the names of its limits. */
const maxLimits = 100

/** Creates `limitGuesses` of a plugin. */
export function createGuessLimits(plugin: string, deps: LimitDeps): Kit['limitGuesses'] {
  const { recorder } = deps
  const limits = createBoundedMap<WindowLimit>(maxLimits)

  function limitOf(name: string, failures: number, window: number): WindowLimit {
    const key = JSON.stringify([name, failures, window])
    const known = limits.get(key)
    if (known !== undefined) return known
    if (!(Number.isSafeInteger(failures) && failures > 0 && Number.isSafeInteger(window) && window > 0)) {
      throw new TypeError('limitGuesses() requires failures and window (seconds), whole numbers of at least 1')
    }
    const created = createWindowLimit({ failures, window }, { ...deps, limit: `plugin:${plugin}:${name}`, marks: true })
    limits.set(key, created)
    return created
  }

  return async ({ name, failures, window }, clientAddress, guess) => {
    if (typeof clientAddress !== 'string' || clientAddress === '') {
      throw new TypeError('limitGuesses() requires the address of the client')
    }
    const limit = limitOf(name, failures, window)
    const address = addressGroupOf(clientAddress)
    limit.assertBelow(address)
    const failure = limit.announce(address)
    let found: Awaited<ReturnType<typeof guess>>
    try {
      // The limit can have been reached in another process.
      const wait = await limit.markedWait(address)
      if (wait !== undefined) throw tooManyFailures(wait)
      found = await guess()
    } catch (error) {
      failure.withdraw()
      throw error
    }
    if (found !== undefined) {
      failure.withdraw()
      return found
    }
    const wait = await failure.count(recorder.start(`plugin:${plugin}`, { clientAddress }))
    if (wait !== undefined) throw tooManyFailures(wait)
    return undefined
  }
}
