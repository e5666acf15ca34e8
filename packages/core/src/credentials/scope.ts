import type { CredentialLimits } from '../abuse/credential-limits.ts'
import type { Scope } from '../directory/scope.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { Runtime } from '../runtime.ts'
import type { CredentialPair } from './basic.ts'
import { invalidClient, type Presented, presentedId, verifyPair } from './presented.ts'
import { createSecretCheck } from './secret.ts'

/** The scope, or the reason why it is not authenticated. The reason is for events only. */
type Verdict =
  | { readonly scope: Scope; readonly reason?: undefined }
  | { readonly scope?: undefined; readonly reason: string }

/**
 * Authenticates the calling API by its scope name and secret. `present` reads the credentials and can throw to refuse
 * them.
 */
export type ScopeAuthentication = (
  present: () => Presented,
  trace: Trace,
) => Promise<{ readonly scope: Scope; readonly presented: Presented }>

/** @see wire contract, section 7; the seed, section 5 */
export function createScopeAuthentication(deps: {
  readonly scopes: ScopeDirectory
  readonly limits: CredentialLimits
  readonly runtime: Runtime
  readonly recorder: Recorder
}): ScopeAuthentication {
  const { scopes, limits, runtime, recorder } = deps
  const isKnown = (name: string): boolean => scopes.find(name) !== undefined
  const matchesSecret = createSecretCheck(
    scopes.all.map(({ secrets }) => secrets.stored),
    runtime,
  )

  async function match({ id, secret }: CredentialPair): Promise<Verdict> {
    const scope = scopes.find(id)
    const matches = matchesSecret(secret, scope?.secrets.stored)
    if (scope === undefined) return { reason: 'scope_unknown' }
    if (!matches) return { reason: 'secret_mismatch' }
    return scope.enabled ? { scope } : { reason: 'scope_disabled' }
  }

  async function verify(presented: Presented): Promise<Scope> {
    const { scope, reason } =
      presented.method === 'none' ? { reason: 'secret_missing' } : await verifyPair(presented, match)
    if (scope === undefined) throw invalidClient(reason)
    return scope
  }

  return async (present, trace) => {
    let id: string | undefined
    try {
      const presented = present()
      id = presented.method === 'none' ? presented.id : presented.pair.id
      limits.assertBelow(id, trace)
      const scope = await verify(presented)
      limits.assertBelow(id, trace)
      return { scope, presented }
    } catch (thrown) {
      if (id !== undefined && recorder.observed) trace.presented = presentedId(id, isKnown, runtime)
      throw await limits.countFailure(thrown, id, trace)
    }
  }
}
