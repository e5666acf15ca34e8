// Packs all packages. Checks that each tarball resolves, has types and contains no unwanted files, that the types work
// with the oldest supported TypeScript, and that all packages work together in an empty directory.
import { execFile } from 'node:child_process'
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkDeclarations } from './check-declarations.js'
import { packageFolders } from './package-folders.js'
import { installPacked, tryServer } from './packed-installation.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => join(root, 'node_modules/.bin', name)
const allowed = /^(?:dist\/|bin\/|package\.json$|README\.md$|LICENSE$)/u
const unwanted = /\.tsbuildinfo$|\.test\./u

async function check(folder, target) {
  const cwd = join(root, folder)
  const { stdout } = await run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', target], { cwd })
  const [packed] = Object.values(JSON.parse(stdout))
  const stray = packed.files.map((file) => file.path).filter((path) => !allowed.test(path) || unwanted.test(path))
  if (folder === 'packages/server' && !packed.files.some(({ path }) => path === 'dist/configuration.schema.json')) {
    throw new Error('packages/server does not contain the JSON Schema of its configuration')
  }
  if (stray.length > 0) throw new Error(`${folder} contains unwanted files: ${stray.join(', ')}`)
  await run(bin('publint'), ['run', join(target, packed.filename), '--strict'])
  await run(bin('attw'), [join(target, packed.filename), '--profile', 'esm-only', '--no-emoji'], { cwd })
  process.stdout.write(`${packed.name} ${packed.version}: ${packed.files.length} files, ${packed.size} bytes packed\n`)
  return { name: packed.name, version: packed.version, tarball: join(target, packed.filename), folder: cwd }
}

const program = `
import { createProvider, signingKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { serve } from '@grantry/adapters/node'
import { defineConfig } from 'grantry'
import '@grantry/storage-drivers/redis'
import '@grantry/resource-server/hono'
const provider = await createProvider(defineConfig({
  issuer: 'https://id.example.com', keys: signingKeys({ algorithm: 'ES256' }), storage: memoryDriver(), clients: [], plugins: [clientCredentials()],
}))
const { port, close } = await serve(provider)
const { status } = await fetch('http://127.0.0.1:' + port + '/.well-known/openid-configuration')
await close(0)
await provider.close()
process.exitCode = status === 200 ? 0 : 1
`

/** Builds and tests a package that `npm create grantry` has written. */
async function tryTemplate(cwd) {
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd })
  await run(process.execPath, ['--test', 'test/'], { cwd })
}

/** Signs a user in at a project that `npm create grantry` has written, and starts it. `jiti` replaces `tsx`. */
async function tryProgram(cwd, startOnce) {
  await run(process.execPath, ['--import', 'jiti/register', '--test', 'sign-in.test.ts'], { cwd })
  await startOnce(cwd, 'node --env-file=.env --import jiti/register server.ts')
}

async function tryReadyServer(cwd, startOnce) {
  const grantry = 'node_modules/grantry/bin/grantry.js'
  await run(process.execPath, [grantry, 'init', '.', '--sign-in', 'alice'], { cwd })
  await startOnce(cwd, `node ${grantry} serve --port 0`)
}

const created = { app: tryProgram, plugin: tryTemplate, driver: tryTemplate, server: tryReadyServer }

/** Writes projects beside the installed packages, outside the repository, and starts each. */
async function tryCreated(directory) {
  const creator = join(directory, 'node_modules/create-grantry')
  const { startOnce } = await import(join(creator, 'dist/index.js'))
  for (const [what, tryProject] of Object.entries(created)) {
    const cwd = join(directory, `created-${what}`)
    await run(process.execPath, [join(creator, 'bin/create-grantry.js'), cwd, '--what', what, '--yes', '--no-start'])
    symlinkSync(join(directory, 'node_modules'), join(cwd, 'node_modules'))
    await tryProject(cwd, startOnce)
  }
}

/** Checks the installed packages as the README describes them. */
async function checkInstalled(packed, target) {
  const cwd = join(target, 'installed')
  mkdirSync(cwd)
  installPacked(packed, cwd)
  await run('npx', ['--no-install', 'grantry', '--version'], { cwd })
  writeFileSync(join(cwd, 'program.mjs'), program)
  await run(process.execPath, ['program.mjs'], { cwd })
  await tryServer(cwd)
  await tryCreated(cwd)
  const { size } = statSync(join(cwd, 'node_modules/grantry/dist/grantry.mjs'))
  process.stdout.write(`installed in an empty directory: the library and the server work; grantry.mjs: ${size} bytes\n`)
}

/**
 * Packs and checks the built packages. Returns their names, versions and tarballs, dependencies first.
 *
 * @param target an empty directory for the tarballs.
 */
export async function packAndCheck(target) {
  checkDeclarations(packageFolders.map((folder) => join(root, folder)))
  const packed = []
  for (const folder of packageFolders) {
    try {
      packed.push(await check(folder, target))
    } catch (error) {
      throw new Error(`${folder} is not ready to publish\n${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`)
    }
  }
  await checkInstalled(packed, target)
  return packed
}
