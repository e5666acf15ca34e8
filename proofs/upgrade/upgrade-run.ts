import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { createFleet } from '../../test/support/fleet.ts'
import { patient } from '../../test/support/network-stores.ts'
import { reservedPort } from '../../test/support/reserved-port.ts'
import { newDirectory } from '../../test/support/server-program.ts'
import { checks } from './checks.ts'
import { writeSetting } from './setting.ts'

/** Servers of each version. */
const perVersion = 2

/** A version, and the `storage` of its configuration. */
export interface Version {
  readonly program: string
  readonly storage: object
}

/** What each check found in all its rounds. */
export type UpgradeReport = Readonly<Record<string, readonly string[]>>

/**
 * Returns the command line of another version: a clone that was built, or a directory in which `npm install grantry` ran.
 *
 * @throws Error if there is none
 */
export function programIn(directory: string): string {
  const places = ['packages/server/bin/grantry.js', 'node_modules/grantry/bin/grantry.js']
  const program = places.map((place) => resolve(directory, place)).find((file) => existsSync(file))
  if (program === undefined) throw new Error(`${directory} has neither ${places.join(' nor ')}`)
  return program
}

/**
 * Starts servers of another version on an empty store, then servers of this one beside them, as a rolling upgrade does, and
 * looks at what must hold while both serve.
 *
 * @param versions in the order in which they start
 */
export async function runUpgrade(
  versions: readonly [older: Version, newer: Version],
  rounds: number,
): Promise<UpgradeReport> {
  const directory = newDirectory()
  const configurations = versions.map(({ storage }, index) =>
    writeSetting(directory, `version-${index}`, patient(storage)),
  )
  const ports = await Promise.all(Array.from({ length: versions.length * perVersion }, reservedPort))
  const [before, after] = [ports.slice(0, perVersion), ports.slice(perVersion)]
  const versionOf = (port: number): number => Number(!before.includes(port))
  const program = (port: number): string => versions[versionOf(port)]?.program ?? ''
  const configuration = (port: number): string => configurations[versionOf(port)] ?? ''
  const fleet = createFleet({ program, configuration, ports, directory, environment: {} })
  try {
    for (const some of [before, after]) {
      for (const port of some) fleet.start(port)
      await Promise.all(some.map(fleet.ready))
    }
    const originsOf = (some: readonly number[]) => some.map((port) => `http://127.0.0.1:${port}`)
    const service = {
      older: originsOf(before),
      newer: originsOf(after),
      commands: versions.map(({ program }, index) => [program, '--config', configurations[index] ?? ''] as const),
    }
    const report: Record<string, readonly string[]> = {}
    for (const [name, check] of Object.entries(checks)) {
      const faults: string[] = []
      for (let round = 0; round < rounds; round += 1) {
        faults.push(...(await check(service, round).catch((error: Error) => [`${error.message} ${error.cause ?? ''}`])))
      }
      report[name] = faults
    }
    return report
  } finally {
    await fleet.killAll()
    rmSync(directory, { recursive: true, force: true })
  }
}
