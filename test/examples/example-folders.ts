import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeBlocks } from '../docs/code-blocks.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const examplesPath = fileURLToPath(new URL('../../examples', import.meta.url))

/** The runtimes come last: they include another Node.js, which must not be used instead of the current one. */
export const searchPath = [process.env.PATH ?? '', `${root}runtimes/node_modules/.bin`].join(delimiter)

/** A way to start an example: a block of commands in its README. */
export interface ExampleStart {
  readonly folder: string
  readonly title: string
  readonly commands: string
}

const generated = new Set(['node_modules', 'dist'])

export const exampleFolders: readonly string[] = readdirSync(examplesPath, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !generated.has(entry.name))
  .map(({ name }) => name)
  .sort()

export const exampleStarts: readonly ExampleStart[] = exampleFolders.flatMap((folder) =>
  codeBlocks(`examples/${folder}/README.md`)
    .filter(({ language }) => language === 'sh')
    .map(({ code, title }) => ({ folder, title, commands: code })),
)

const builds = [
  'packages/core',
  'packages/adapters',
  'packages/cloudflare',
  'packages/resource-server',
  'packages/storage-drivers',
  'plugins',
]

/** Returns a message if examples cannot start here, such as a missing dependency. */
export function missingForExamples(): string | undefined {
  const command = [`${root}scripts/installed-packages.js`, 'examples', '--check']
  // With CI=true, it would fail.
  const output = execFileSync(process.execPath, command, { encoding: 'utf8', env: { ...process.env, CI: '' } }).trim()
  if (output !== '') return output
  const unbuilt = builds.filter((folder) => !existsSync(`${root}${folder}/dist`))
  return unbuilt.length > 0 ? `${unbuilt.join(', ')} are not built: npm run build` : undefined
}

const runtimes = ['bun', 'deno', 'workerd'] as const

/** Returns a message if a runtime that these commands need is not installed. */
export function missingRuntime(commands: string): string | undefined {
  const missing = runtimes.filter(
    (name) =>
      new RegExp(`^${name} `, 'mu').test(commands) &&
      spawnSync(name, ['--version'], { env: { ...process.env, PATH: searchPath } }).status !== 0,
  )
  return missing.length > 0 ? `${missing.join(', ')} is not installed: npm run runtimes` : undefined
}
