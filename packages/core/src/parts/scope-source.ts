import { assertNone, configurationProblems } from '../config-problems.ts'
import { createHostPort, type HostLimits } from '../directory/host-port.ts'
import { type Scope, type ScopeOptions, scopeName } from '../directory/scope.ts'
import type { AddScopes, ScopeDirectory, ScopeSet } from '../directory/scopes.ts'
import type { Recorder } from '../events/recorder.ts'
import type { MaybePromise } from '../types.ts'
import { type Defined, type Members, type Owned, partKind, required } from './part-kind.ts'
import { createRunner, type Tasks } from './task.ts'

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

/** The scopes of plugins beside those of the host. */
export interface ScopeSources {
  /**
   * Reads them for the start.
   *
   * @param problemOf returns what is wrong with a scope that is valid by its schema
   */
  read(hostLimits: HostLimits, problemOf: (scope: Scope) => string | undefined): Promise<AddScopes>
  /** Returns the task that reads them again. */
  createReading(refresh: () => Promise<void>, recorder: Recorder): Tasks
}

/** The scopes of one plugin. */
interface ScopeList {
  readonly plugin: string
  readonly options: readonly ScopeOptions[]
}

/** Returns where a scope is. A name of another form could forge a line of the log. */
function placeOf({ plugin, options }: ScopeList, index: number): string {
  const { name } = Object(options[index]) as { readonly name?: unknown }
  const isName = typeof name === 'string' && name.length <= 300 && scopeName.test(name)
  return isName ? `${plugin}: scope ${name}` : `${plugin}.list()[${index}]`
}

/** Returns a function that reads the scopes of a source. */
function createRead({ plugin, part }: Owned<ScopeSource>, hostLimits: HostLimits): () => Promise<ScopeList> {
  const port = createHostPort(`${plugin}.list`, hostLimits)
  return async () => {
    const options: unknown = await port(() => part.list())
    if (!Array.isArray(options)) throw new TypeError(`plugins: ${plugin}.list() has not returned an array of scopes`)
    return { plugin, options }
  }
}

/** Adds the scopes of plugins to a set. Returns a sentence for each that is left out. */
function addLists(
  set: ScopeSet,
  lists: readonly ScopeList[],
  problemOf: (scope: Scope) => string | undefined,
): readonly string[] {
  const add = (list: ScopeList, option: ScopeOptions, index: number): readonly string[] => {
    const where = placeOf(list, index)
    try {
      set.add(option, where, problemOf)
      return []
    } catch (thrown) {
      // Any other error is a defect.
      if (!(thrown instanceof TypeError)) throw thrown
      return configurationProblems(thrown).map((problem) =>
        problem.startsWith(where) ? problem : `${where}: ${problem}`,
      )
    }
  }
  return lists.flatMap((list) => list.options.flatMap((option, index) => add(list, option, index)))
}

const openSources = (sources: readonly Owned<ScopeSource>[]): ScopeSources => ({
  createReading: (refresh, recorder) => createRunner([refresh], recorder),
  async read(hostLimits, problemOf) {
    const reads = sources.map((source) => createRead(source, hostLimits))
    const readAll = (): Promise<readonly ScopeList[]> => Promise.all(reads.map((read) => read()))
    const atStart = await readAll()
    return (createSet) => {
      let lists = atStart
      let current: ScopeDirectory
      const open = (): readonly string[] => {
        const set = createSet()
        const problems = addLists(set, lists, problemOf)
        current = set.directory
        return problems
      }
      assertNone(open())
      return {
        get current() {
          return current
        },
        async refresh() {
          const latest = await readAll()
          if (latest.every(({ options }, index) => options === lists[index]?.options)) return
          lists = latest
          assertNone(open())
        },
      }
    }
  },
})

const scopeSourceKind = /* @__PURE__ */ partKind<ScopeSource, ScopeSources>('scope-source', {
  title: 'scope source',
  schemas: () => ({ list: required() }),
  collect: openSources,
})

/** Returns the part of a plugin that reads the scopes which the plugin keeps. */
export const defineScopeSource = (source: Members<ScopeSource>): ScopeSource => ({
  ...source,
  kind: 'scope-source',
  '~kind': scopeSourceKind,
})
