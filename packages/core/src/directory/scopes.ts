import { assertNone, configurationProblems } from '../config-problems.ts'
import { parseConfiguration } from '../config-schema.ts'
import { type Scope, type ScopeOptions, type ScopeWithSecrets, type scopeSchema, standardScopes } from './scope.ts'
import { assertSecrets, type Secret } from './secret.ts'

/** The scopes of a provider at one time: the standard scopes, which others can override, and those of the host. */
export interface ScopeDirectory {
  find(name: string): Scope | undefined
  /** Returns the usable secrets of a scope that `find()` has returned. */
  secretsOf(scope: Scope): readonly Secret[]
  readonly all: readonly Scope[]
}

/** The scopes, which can change while the service runs. A change replaces the directory as a whole. */
export interface LiveScopes {
  /** The present scopes. A request with several steps takes them once. */
  readonly current: ScopeDirectory
  /** Reads the scopes of plugins again; absent if no plugin keeps any. */
  readonly refresh?: (() => Promise<void>) | undefined
}

/** Scopes that come from one place. */
export interface ScopeList {
  /** `scopes`, the option, or the name of a plugin. */
  readonly from: string
  readonly options: readonly ScopeOptions[]
  /** Returns where a scope is, for errors. */
  readonly placeOf: (index: number) => string
}

export interface OpenedScopes {
  readonly directory: ScopeDirectory
  /** One sentence for each mistake. The scopes with a mistake are left out. */
  readonly problems: readonly string[]
}

type OpenScopes = (lists: readonly ScopeList[], problemOf?: (scope: Scope) => string | undefined) => OpenedScopes

/** Scopes besides those of the host. */
export interface OtherScopes {
  readonly atStart: readonly ScopeList[]
  /** Returns the scopes, which start with `first`. `open` opens those of the host with others. */
  live(first: ScopeDirectory, open: OpenScopes): LiveScopes
}

/** Keeps the secrets apart, so that no plugin receives them. */
interface ParsedScope {
  readonly scope: Scope
  readonly secrets: readonly Secret[]
}

/** Returns a function that opens scopes. It parses each object once. */
function createOpen(schema: typeof scopeSchema): OpenScopes {
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

  return (lists, problemOf) => {
    const scopes = new Map(standardScopes.map((option) => [option.name, parse(option, 'scopes')]))
    const owners = new Map<string, string>()

    function add(option: ScopeOptions, from: string, where: string): void {
      const found = parse(option, where)
      const { name, identity } = found.scope
      const owner = owners.get(name)
      if (owner !== undefined) {
        const places = owner === from ? '' : `, in ${owner} and in ${from}; remove one of them`
        throw new TypeError(`scopes: two scopes have the name ${name}${places}`)
      }
      if (scopes.get(name)?.scope.identity && !identity) {
        throw new TypeError(
          `${where}: ${name} is an identity scope of OpenID Connect; set identity: true, or use another name`,
        )
      }
      assertNone([problemOf?.(found.scope) ?? []].flat())
      owners.set(name, from)
      scopes.set(name, found)
    }

    const problems = new Set<string>()
    for (const { from, options, placeOf } of lists) {
      for (const [index, option] of options.entries()) {
        try {
          add(option, from, placeOf(index))
        } catch (thrown) {
          // Any other error is a defect.
          if (!(thrown instanceof TypeError)) throw thrown
          for (const problem of configurationProblems(thrown)) problems.add(problem)
        }
      }
    }
    const all = [...scopes.values()]
    const secretsByScope = new Map(all.map(({ scope, secrets }) => [scope, secrets]))
    const directory: ScopeDirectory = {
      find: (name) => scopes.get(name)?.scope,
      secretsOf: (scope) => secretsByScope.get(scope) ?? [],
      all: all.map(({ scope }) => scope),
    }
    return { directory, problems: [...problems] }
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
  others?: OtherScopes | undefined,
): LiveScopes {
  const own: ScopeList = { from: 'scopes', options, placeOf: (index) => `scopes[${index}]` }
  const open = createOpen(schema)
  const { directory, problems } = open([own, ...(others?.atStart ?? [])])
  assertNone(problems)
  return others?.live(directory, (lists, problemOf) => open([own, ...lists], problemOf)) ?? { current: directory }
}

/** Returns a function that derives a value from the present scopes: once for each directory. */
export function derivedFrom<T>(scopes: Pick<LiveScopes, 'current'>, create: (directory: ScopeDirectory) => T): () => T {
  let derived: { readonly from: ScopeDirectory; readonly value: T } | undefined
  return () => {
    const { current } = scopes
    if (derived?.from !== current) derived = { from: current, value: create(current) }
    return derived.value
  }
}
