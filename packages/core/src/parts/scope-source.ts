import { configurationError } from '../config-problems.ts'
import { createHostPort, type HostLimits } from '../directory/host-port.ts'
import { type Scope, type ScopeOptions, scopeName } from '../directory/scope.ts'
import type { OtherScopes, ScopeList } from '../directory/scopes.ts'
import type { MaybePromise } from '../types.ts'
import { type Defined, type Members, type Owned, partKind, required } from './part-kind.ts'
import { createRunner } from './task.ts'

/** Scopes that a plugin keeps, such as those in a database, besides those of the option `scopes`. */
export interface ScopeSource extends Defined<'scope-source'> {
  /**
   * Returns all of its present scopes; the same array as long as none has changed. Each object is parsed once. Called at
   * start, before the storage is probed, and whenever `provider.runTasks()` runs; never for a request. At start, a
   * failure and a scope with a mistake prevent the start. Later, a failure changes nothing, and a scope with a mistake is
   * left out, because it could be disabled; both are events.
   */
  list(): MaybePromise<readonly ScopeOptions[]>
}

/** The scopes of all sources. */
export interface ScopeSources {
  /** Reads them for the start. @param problemOf returns what is wrong with a scope that is valid by its schema */
  read(hostLimits: HostLimits, problemOf: (scope: Scope) => string | undefined): Promise<OtherScopes>
  /** Here, so that a program without sources does not contain it. */
  readonly createRunner: typeof createRunner
}

/** Returns where a scope is. A name of another form could forge a line of the log. */
function placeOf(plugin: string, option: unknown, index: number): string {
  const { name } = Object(option) as { readonly name?: unknown }
  const isName = typeof name === 'string' && name.length <= 300 && scopeName.test(name)
  return isName ? `${plugin}: scope ${name}` : `${plugin}.list()[${index}]`
}

/** Returns a function that reads the scopes of a source. */
function createRead({ plugin, part }: Owned<ScopeSource>, hostLimits: HostLimits): () => Promise<ScopeList> {
  const port = createHostPort(`${plugin}.list`, hostLimits)
  return async () => {
    const options: unknown = await port(() => part.list())
    if (!Array.isArray(options)) throw new TypeError(`plugins: ${plugin}.list() has not returned an array of scopes`)
    return { from: plugin, options, placeOf: (index) => placeOf(plugin, options[index], index) }
  }
}

const openSources = (sources: readonly Owned<ScopeSource>[]): ScopeSources => ({
  createRunner,
  async read(hostLimits, problemOf) {
    const reads = sources.map((source) => createRead(source, hostLimits))
    const readAll = (): Promise<readonly ScopeList[]> => Promise.all(reads.map((read) => read()))
    const atStart = await readAll()
    return {
      atStart,
      live(first, open) {
        let lists = atStart
        let current = first
        return {
          get current() {
            return current
          },
          async refresh() {
            const found = await readAll()
            if (found.every(({ options }, index) => options === lists[index]?.options)) return
            lists = found
            const { directory, problems } = open(found, problemOf)
            current = directory
            const [problem, ...others] = problems
            if (problem !== undefined) throw configurationError([problem, ...others])
          },
        }
      },
    }
  },
})

const scopeSourceKind = /* @__PURE__ */ partKind<ScopeSource, ScopeSources>('scope-source', {
  title: 'scope source',
  schemas: () => ({ list: required() }),
  collect: openSources,
})

/** Defines a source of scopes. */
export const defineScopeSource = (source: Members<ScopeSource>): ScopeSource => ({
  ...source,
  kind: 'scope-source',
  '~kind': scopeSourceKind,
})
