import { allSteps } from '../config-problems.ts'
import { parseConfiguration } from '../config-schema.ts'
import { type Scope, type ScopeOptions, type ScopeWithSecrets, type scopeSchema, standardScopes } from './scope.ts'
import { assertSecrets, type Secret } from './secret.ts'

/** The scopes of a provider: the configured scopes and the standard scopes, which the configuration can override. */
export interface ScopeDirectory {
  find(name: string): Scope | undefined
  /** Returns the usable secrets of a scope that `find()` has returned. */
  secretsOf(scope: Scope): readonly Secret[]
  readonly all: readonly Scope[]
}

/**
 * Validates the scopes. All of them are known at startup; there is no scope store.
 *
 * @throws TypeError when a scope is malformed, or two scopes have the same name.
 */
export function openScopes(options: readonly ScopeOptions[], schema: typeof scopeSchema): ScopeDirectory {
  const secretsByScope = new Map<Scope, readonly Secret[]>()
  // Keeps the secrets apart, so that no plugin receives them.
  function parse(option: ScopeOptions, where: string): Scope {
    const { secrets, ...scope } = parseConfiguration(schema, option, where) as ScopeWithSecrets
    secretsByScope.set(scope, secrets.stored)
    return scope
  }
  const scopes = new Map<string, Scope>()
  for (const standard of standardScopes) scopes.set(standard.name, parse(standard, 'scopes'))
  const declared = new Set<string>()
  const add = (option: ScopeOptions, index: number): void => {
    const scope = parse(option, `scopes[${index}]`)
    assertSecrets(option.secrets, `scopes[${index}]`)
    if (declared.has(scope.name)) throw new TypeError(`scopes: two scopes have the name ${scope.name}`)
    const standard = scopes.get(scope.name)
    if (standard?.identity && !scope.identity) {
      throw new TypeError(
        `scopes[${index}]: ${scope.name} is an identity scope of OpenID Connect; set identity: true, or use another name`,
      )
    }
    declared.add(scope.name)
    scopes.set(scope.name, scope)
  }
  allSteps(options.map((option, index) => () => add(option, index)))
  return {
    find: (name) => scopes.get(name),
    secretsOf: (scope) => secretsByScope.get(scope) ?? [],
    all: [...scopes.values()],
  }
}
