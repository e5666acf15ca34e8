import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from './directory.ts'
import { pause } from './pause.ts'

/** Milliseconds that a build may take on a busy machine. */
const longestBuild = 120_000

/**
 * Returns a directory that `build` fills, once for all processes of a run: the first one builds, and the others wait. A
 * program outside a run builds its own, which goes with it.
 */
export async function builtOnce(name: string, build: (directory: string) => Promise<void>): Promise<string> {
  const run = process.env.GRANTRY_RUN_DIRECTORY
  if (run === undefined) {
    const directory = newDirectory()
    process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
    await build(directory)
    return directory
  }
  const directory = join(run, `built-${name}`)
  const [built, failed] = [join(directory, 'built'), join(directory, 'failed')]
  try {
    mkdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    for (const end = Date.now() + longestBuild; !existsSync(built); await pause(50)) {
      if (existsSync(failed)) throw new Error(`${name}: another process could not build it, and reports why`)
      if (Date.now() > end) throw new Error(`${name}: another process has not built it in ${longestBuild / 1000} s`)
    }
    return directory
  }
  try {
    await build(directory)
  } catch (error) {
    writeFileSync(failed, '')
    throw error
  }
  writeFileSync(built, '')
  return directory
}
