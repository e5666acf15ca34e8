import { parseConfiguration } from '../configuration.ts'
import { type Scope, type ScopeOptions, scopeSchema, standardScopes } from './scope.ts'
import { assertSecrets } from './secret.ts'

/** The scopes of this provider: those of the host and the standard ones, which the host may describe anew. */
export interface ScopeDirectory {
  find(name: string): Scope | undefined
  readonly all: readonly Scope[]
}

/** A scope is configuration, not data: all are known at start, and a look-up is a map's. */
export function openScopes(options: readonly ScopeOptions[]): ScopeDirectory {
  const scopes = new Map<string, Scope>()
  for (const standard of standardScopes) scopes.set(standard.name, parseConfiguration(scopeSchema, standard, 'scopes'))
  const declared = new Set<string>()
  for (const [index, option] of options.entries()) {
    const scope = parseConfiguration(scopeSchema, option, `scopes[${index}]`)
    assertSecrets(option.secrets, `scopes[${index}]`)
    if (declared.has(scope.name)) throw new TypeError(`scopes: two scopes have the name ${scope.name}`)
    const standard = scopes.get(scope.name)
    if (standard?.identity && !scope.identity) {
      throw new TypeError(
        `scopes[${index}]: ${scope.name} is an identity scope of OpenID Connect; write identity: true, or take another name`,
      )
    }
    declared.add(scope.name)
    scopes.set(scope.name, scope)
  }
  return { find: (name) => scopes.get(name), all: [...scopes.values()] }
}
