import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Installs the dependencies of a folder from its lock file when any is missing. Runs install scripts, which Bun and
 * Node need for their binaries.
 *
 * @throws Error when that fails.
 */
export function installDependencies(folder: URL): void {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  const isAvailable = (name: string): boolean => existsSync(new URL(`node_modules/${name}/package.json`, folder))
  if (Object.keys(dependencies).every(isAvailable)) return
  const { status, error } = spawnSync('npm', ['ci', '--ignore-scripts=false', '--no-audit', '--no-fund'], {
    cwd: fileURLToPath(folder),
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, npm_config_loglevel: 'error' },
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`npm ci in ${fileURLToPath(folder)} exited with ${status}`)
}
