import type { Scope } from '../directory/scope.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import type { RequestParameters } from '../http/parameters.ts'
import type { Runtime } from '../runtime.ts'
import type { CredentialPair } from './basic.ts'
import { invalidClient, type Presented, presentedInForm, verifyPair } from './pair.ts'
import { matchesSecret } from './secret.ts'

/** Proves which API asks: its scope with that scope's own secret. */
export interface ScopeAuthentication {
  verify(presented: Presented): Promise<Scope>
  /** For a request without an `Authorization` header. */
  verifyForm(form: RequestParameters): Promise<Scope>
}

/** @see wire contract, section 7; the seed, section 5 */
export function createScopeAuthentication(deps: {
  readonly scopes: ScopeDirectory
  readonly runtime: Runtime
}): ScopeAuthentication {
  const { scopes, runtime } = deps

  async function match({ id, secret }: CredentialPair): Promise<Scope | undefined> {
    const scope = scopes.find(id)
    return matchesSecret(secret, scope?.secrets.stored, runtime) && scope?.enabled ? scope : undefined
  }

  async function verify(presented: Presented): Promise<Scope> {
    const scope = presented.method === 'none' ? undefined : await verifyPair(presented, match)
    if (scope === undefined) throw invalidClient('scope_not_authenticated')
    return scope
  }

  return { verify, verifyForm: (form) => verify(presentedInForm(form)) }
}
