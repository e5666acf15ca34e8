import { assertNone, configurationProblems } from '../config-problems.ts'
import { functionSchema } from '../config-schema.ts'
import { createHostPort, type HostLimits } from '../directory/host-port.ts'
import { type Scope, type ScopeOptions, scopeName } from '../directory/scope.ts'
import type { AddScopes, ScopeDirectory, ScopeSet } from '../directory/scopes.ts'
import type { Recorder } from '../events/recorder.ts'
import { after } from '../promises.ts'
import type { MaybePromise } from '../types.ts'
import { type Defined, type Members, type Owned, partKind, required } from './part-kind.ts'
import { createRunner, type Tasks } from './task.ts'

/** Scopes that a plugin keeps, such as those in a database, besides those of the option `scopes`. */
export interface ScopeSource extends Defined<'scope-source'> {
  /**
   * Returns all of its present scopes; the same array as long as none has changed. Each object is parsed once. Called at
   * start, before the storage is probed, whenever `provider.runTasks()` runs, and as `isCurrent` says. At start, a
   * failure and a scope with a mistake prevent the start. Later, a failure changes nothing, and a scope with a mistake is
   * left out, because it could be disabled; both are events.
   */
  list(): MaybePromise<readonly ScopeOptions[]>
  /**
   * Whether the array that `list` has returned is still current. Called when an API has authenticated with a secret
   * of one of these scopes: if the array is not current, `list` is called, and the secret checked again. Default: a
   * removed secret is accepted until `provider.runTasks()` runs.
   */
  readonly isCurrent?: ((listed: readonly ScopeOptions[]) => MaybePromise<boolean>) | undefined
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

/** The source of the scopes of one plugin. */
interface OpenedSource {
  read(): Promise<ScopeList>
  isCurrent({ options }: ScopeList): MaybePromise<boolean>
}

/** Returns where a scope is. A name of another form could forge a line of the log. */
function placeOf({ plugin, options }: ScopeList, index: number): string {
  const { name } = Object(options[index]) as { readonly name?: unknown }
  const isName = typeof name === 'string' && name.length <= 300 && scopeName.test(name)
  return isName ? `${plugin}: scope ${name}` : `${plugin}.list()[${index}]`
}

function openSource({ plugin, part }: Owned<ScopeSource>, hostLimits: HostLimits): OpenedSource {
  const port = createHostPort(`${plugin}.list`, hostLimits)
  const currentPort = createHostPort(`${plugin}.isCurrent`, hostLimits)
  return {
    async read() {
      const options: unknown = await port(() => part.list())
      if (!Array.isArray(options)) throw new TypeError(`plugins: ${plugin}.list() has not returned an array of scopes`)
      return { plugin, options }
    },
    isCurrent: ({ options }) =>
      part.isCurrent === undefined ||
      after(
        currentPort(() => part.isCurrent?.(options)),
        (is) => is === true,
      ),
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
    const opened = sources.map((source) => openSource(source, hostLimits))
    const readAll = (): Promise<readonly ScopeList[]> => Promise.all(opened.map(({ read }) => read()))
    const areRenewed = sources.some(({ part }) => part.isCurrent !== undefined)
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
      let unreported: readonly string[] = []
      async function readAgain(): Promise<void> {
        const latest = await readAll()
        if (latest.every(({ options }, index) => options === lists[index]?.options)) return
        lists = latest
        unreported = open()
      }
      assertNone(open())
      const { directory: fixed } = createSet()
      return {
        get current() {
          return current
        },
        async refresh() {
          await readAgain()
          const problems = unreported
          unreported = []
          assertNone(problems)
        },
        ...(areRenewed && {
          async renew(scope: Scope) {
            if (fixed.find(scope.name) === scope) return
            const listed = lists
            const are = await Promise.all(opened.map(({ isCurrent }, at) => isCurrent(listed[at] as ScopeList)))
            if (!are.every(Boolean)) await readAgain()
          },
        }),
      }
    }
  },
})

const scopeSourceKind = /* @__PURE__ */ partKind<ScopeSource, ScopeSources>('scope-source', {
  title: 'scope source',
  schemas: () => ({ list: required(), isCurrent: functionSchema() }),
  collect: openSources,
})

/** Returns the part of a plugin that reads the scopes which the plugin keeps. */
export const defineScopeSource = (source: Members<ScopeSource>): ScopeSource => ({
  ...source,
  kind: 'scope-source',
  '~kind': scopeSourceKind,
})
