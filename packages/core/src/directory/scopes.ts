import { allSteps } from '../config-problems.ts'
import { parseConfiguration, placeInList } from '../config-schema.ts'
import { type Scope, type ScopeOptions, type ScopeWithSecrets, type scopeSchema, standardScopes } from './scope.ts'
import { assertSecrets, type Secret } from './secret.ts'

/** The scopes of a provider at one time: the standard scopes, which others can override, and those of the host. */
export interface ScopeDirectory {
  find(name: string): Scope | undefined
  /** Returns the usable secrets of a scope that `find()` has returned. */
  secretsOf(scope: Scope): readonly Secret[]
  /**
   * Returns the names without those that meant another scope at that time.
   *
   * @param grantedAt epoch seconds
   */
  lasting(names: readonly string[], grantedAt: number): readonly string[]
  readonly all: readonly Scope[]
}

/** The scopes, which can change while the service runs. A change replaces the directory as a whole. */
export interface LiveScopes {
  /** The present scopes. A request with several steps takes them once. */
  readonly current: ScopeDirectory
  /** Reads the scopes of plugins again; absent if no plugin keeps any. */
  readonly refresh?: (() => Promise<void>) | undefined
  /** Reads them again if this scope, which `current` has returned, can have changed; absent if none can. */
  readonly renew?: ((scope: Scope) => Promise<void>) | undefined
}

/** Opens scopes one by one. */
export interface ScopeSet {
  readonly directory: ScopeDirectory
  /**
   * Adds a scope.
   *
   * @param where its place, for errors
   * @param problemOf returns what is wrong with a scope that is valid by its schema
   * @throws TypeError when it is malformed, has the name of another one, or would replace a standard scope.
   */
  add(option: ScopeOptions, where: string, problemOf?: (scope: Scope) => string | undefined): void
}

/** Adds scopes to those of the host. */
export type AddScopes = (createSet: () => ScopeSet) => LiveScopes

/** Keeps the secrets apart, so that no plugin receives them. */
interface ParsedScope {
  readonly scope: Scope
  readonly secrets: readonly Secret[]
}

function createSetOf(options: readonly ScopeOptions[], schema: typeof scopeSchema): () => ScopeSet {
  // Each object is parsed once.
  const parsed = new WeakMap<ScopeOptions, ParsedScope>()
  function parse(option: ScopeOptions, where: string): ParsedScope {
    const known = parsed.get(option)
    if (known !== undefined) return known
    const { secrets, ...scope } = parseConfiguration(schema, option, where) as ScopeWithSecrets
    assertSecrets(option.secrets, where)
    const result = { scope, secrets: secrets.stored }
    parsed.set(option, result)
    return result
  }

  return () => {
    const scopes = new Map(standardScopes.map((option) => [option.name, parse(option, 'scopes')]))
    const secretsByScope = new Map<Scope, readonly Secret[]>()
    const declared = new Set<string>()
    const add: ScopeSet['add'] = (option, where, problemOf) => {
      const parsedScope = parse(option, where)
      const { name, identity } = parsedScope.scope
      if (declared.has(name)) throw new TypeError(`scopes: two scopes have the name ${name}`)
      if (scopes.get(name)?.scope.identity && !identity) {
        throw new TypeError(
          `${where}: ${name} is an identity scope of OpenID Connect; set identity: true, or use another name`,
        )
      }
      const problem = problemOf?.(parsedScope.scope)
      if (problem !== undefined) throw new TypeError(problem)
      declared.add(name)
      scopes.set(name, parsedScope)
      secretsByScope.set(parsedScope.scope, parsedScope.secrets)
    }
    allSteps(options.map((option, index) => () => add(option, placeInList('scopes', index, option))))
    return {
      add,
      get directory() {
        const all = [...scopes.values()].map(({ scope }) => scope)
        const starts = new Map(
          all.flatMap(({ name, grantedSince = 0 }) => (grantedSince > 0 ? [[name, grantedSince]] : [])),
        )
        return {
          find: (name: string) => scopes.get(name)?.scope,
          secretsOf: (scope: Scope) => secretsByScope.get(scope) ?? [],
          // The usual case costs nothing: no scope was added again.
          lasting: (names: readonly string[], grantedAt: number) =>
            starts.size === 0 ? names : names.filter((name) => grantedAt >= (starts.get(name) ?? 0)),
          all,
        }
      },
    }
  }
}

/**
 * Opens the scopes.
 *
 * @throws TypeError with a sentence for each mistake: a malformed scope, or two scopes with the same name.
 */
export function openScopes(
  options: readonly ScopeOptions[],
  schema: typeof scopeSchema,
  addScopes: AddScopes = (createSet) => ({ current: createSet().directory }),
): LiveScopes {
  return addScopes(createSetOf(options, schema))
}

/** Returns a function that derives a value from the present scopes: once for each directory. */
export function derivedFrom<T>(scopes: LiveScopes, create: (directory: ScopeDirectory) => T): () => T {
  let from: ScopeDirectory | undefined
  let value: T
  return () => {
    if (from !== scopes.current) {
      from = scopes.current
      value = create(from)
    }
    return value
  }
}
