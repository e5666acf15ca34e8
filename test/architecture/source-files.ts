import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { filesBelow } from './files-below.ts'

/** A source file. */
export interface Source {
  /** Relative to the root of the repository, with `/` as separator. */
  readonly path: string
  readonly text: string
}

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** The folders of the packages. */
export const packages = [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'plugins']

const filesIn = (folders: readonly string[], form: RegExp): readonly Source[] =>
  folders
    .flatMap((folder) => filesBelow(join(root, folder)).map((path) => posix.relative(root, path)))
    .filter((path) => form.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** The files that are part of a package. */
export const sources = filesIn(packages, /^(?:packages\/[^/]+\/src|plugins\/[^/]+)\/.*\.ts$/u)
/** The scripts of packages that browsers load. */
export const pageScripts = filesIn(packages, /^(?:packages\/[^/]+\/src|plugins\/[^/]+)\/.*\.js$/u)
/** The documents with examples for authors of plugins. */
export const guides = [
  { path: 'README.md', text: readFileSync(join(root, 'README.md'), 'utf8') },
  ...filesIn(['docs/guides', 'templates', 'plugins'], /\.md$/u),
]
/** The files of tests, proofs and benchmarks. */
export const programs = filesIn(['test', 'proofs', 'bench'], /\.ts$/u)
/** All files that start programs: those, the scripts, the examples and the templates. */
export const everyProgram = [
  ...programs,
  ...filesIn(['test', 'scripts', 'examples', 'templates'], /\.m?js$/u),
  ...filesIn(['scripts', 'examples', 'templates'], /\.ts$/u),
]
