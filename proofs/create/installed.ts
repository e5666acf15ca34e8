import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { newTable, type UsersTable, usersSql } from '../../packages/create-grantry/src/users-table.ts'
import { packageFolders } from '../../scripts/package-folders.js'

/** Packs all packages of a repository. The build must be current. */
export function packAll(root: string, target: string): void {
  mkdirSync(target)
  const folders = packageFolders.flatMap((folder) => ['-w', folder])
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target, ...folders], { cwd: root, stdio: 'pipe' })
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Installs what the manifests name, once: each of them names the same version of a package. */
export function installAll(directory: string, manifests: readonly Manifest[]): void {
  const dependencies = Object.assign(
    {},
    ...manifests.map((each) => ({ ...each.dependencies, ...each.devDependencies })),
  )
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: directory, stdio: 'inherit' })
}

/** Creates a table of users, which the projects with a table of their users read. */
export function createTable(directory: string): UsersTable {
  const table = newTable(join(directory, 'users.db'))
  const Database = createRequire(join(directory, 'package.json'))('libsql')
  const database = new Database(table.database)
  database.exec(usersSql(table))
  database.close()
  return table
}
