import { importsOf } from '../../test/architecture/imports-of.ts'
import type { Source } from '../../test/architecture/source-files.ts'

/** Some units of the tree, such as the packages. Each imports only what stands on a floor below its own. */
export interface Storey {
  readonly title: string
  /** The top floor first. */
  readonly floors: readonly (readonly string[])[]
}

type Imports = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Collects which units import which.
 *
 * @param unitOf the unit that a path or the name of a package belongs to, if any
 */
function importsBetween(sources: readonly Source[], unitOf: (target: string) => string | undefined): Imports {
  const imports = new Map<string, Set<string>>()
  for (const source of sources) {
    const unit = unitOf(source.path)
    if (unit === undefined) continue
    const targets = imports.get(unit) ?? new Set()
    imports.set(unit, targets)
    // Siblings may import each other's types, which the compiler erases.
    for (const { target, type } of importsOf(source)) {
      const imported = type ? undefined : unitOf(target)
      if (imported !== undefined && imported !== unit) targets.add(imported)
    }
  }
  return imports
}

/** Everything that a unit imports, also through others. */
function reachableFrom(unit: string, imports: Imports, reached = new Set<string>()): ReadonlySet<string> {
  for (const imported of imports.get(unit) ?? []) {
    if (reached.has(imported)) continue
    reached.add(imported)
    reachableFrom(imported, imports, reached)
  }
  return reached
}

/** Puts each unit on the lowest floor above everything that it imports. Units that import each other share a floor. */
function floorsOf(imports: Imports): readonly (readonly string[])[] {
  const reachable = new Map([...imports.keys()].map((unit) => [unit, reachableFrom(unit, imports)]))
  const heightOf = (unit: string): number => {
    const below = [...(reachable.get(unit) ?? [])].filter((imported) => !reachable.get(imported)?.has(unit))
    return Math.max(-1, ...below.map(heightOf)) + 1
  }
  const heights = [...imports.keys()].map((unit) => ({ unit, height: heightOf(unit) }))
  const top = Math.max(...heights.map(({ height }) => height))
  return Array.from({ length: top + 1 }, (_, floor) =>
    heights.flatMap(({ unit, height }) => (height === top - floor ? [unit] : [])).sort(),
  )
}

const packageOf = (target: string): string | undefined =>
  target.startsWith('plugins/') ? 'plugins' : /^(?:packages|@grantry)\/([\w-]+)/u.exec(target)?.[1]

const pluginOf = (target: string): string | undefined => /^plugins\/([\w-]+)\//u.exec(target)?.[1]

/** A folder of the core, or a file beside them. */
const partOfCore = (target: string): string | undefined => {
  const part = /^packages\/core\/src\/([\w-]+)/u.exec(target)?.[1]
  return part === 'index' ? undefined : part
}

/** A folder of the server. The files beside them begin what is in folders. */
const partOfServer = (target: string): string | undefined => /^packages\/server\/src\/([\w-]+)\//u.exec(target)?.[1]

/** Returns the storeys of the house: its packages, its plugins, its core and its server. */
export const house = (sources: readonly Source[]): readonly Storey[] => [
  { title: 'Packages', floors: floorsOf(importsBetween(sources, packageOf)) },
  { title: 'Plugins', floors: floorsOf(importsBetween(sources, pluginOf)) },
  { title: 'Core', floors: floorsOf(importsBetween(sources, partOfCore)) },
  { title: 'Server', floors: floorsOf(importsBetween(sources, partOfServer)) },
]
