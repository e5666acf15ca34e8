import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns the bytes of the files in a folder, or of one file. */
export function sizeOf(path: string): number {
  const entry = lstatSync(path)
  if (!entry.isDirectory()) return entry.size
  return readdirSync(path).reduce((sum, name) => (name === 'node_modules' ? sum : sum + sizeOf(`${path}/${name}`)), 0)
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))

/** Finds a package as Node does, from the folder of the one that needs it. */
function folderOf(name: string, from: string): string {
  for (let folder = from; folder !== ''; folder = folder.slice(0, folder.lastIndexOf('/'))) {
    const candidate = `${folder}/node_modules/${name}`
    if (existsSync(candidate)) return realpathSync(candidate)
  }
  throw new Error(`${name} is not installed`)
}

/** The published files of a package of this repository, all files of an installed one. */
function packageSize(folder: string): number {
  if (folder.includes('/node_modules/')) return sizeOf(folder)
  const files = ['package.json', ...(manifestOf(folder).files ?? [])].map((name) => `${folder}/${name}`)
  return files.reduce((sum, file) => (existsSync(file) ? sum + sizeOf(file) : sum), 0)
}

/** Returns the bytes of packages with all of their dependencies. @param from the folder of the program */
export function installedSize(names: readonly string[], from: URL): number {
  const folders = new Set<string>()
  const add = (name: string, needing: string): void => {
    const folder = folderOf(name, needing)
    if (folders.has(folder)) return
    folders.add(folder)
    for (const dependency of Object.keys(manifestOf(folder).dependencies ?? {})) add(dependency, folder)
  }
  for (const name of names) add(name, fileURLToPath(from).replace(/\/$/u, ''))
  return [...folders].reduce((sum, folder) => sum + packageSize(folder), 0)
}

/** Returns the version of an installed package. */
export const installedVersion = (name: string, from: URL): string =>
  manifestOf(folderOf(name, fileURLToPath(from).replace(/\/$/u, ''))).version
