import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { consolePagesDefine } from '../../scripts/console-pages.js'
import { builtOnce } from './built-once.ts'
import { bundle } from './bundle.ts'
import { linkPackages } from './bundle-with-packages.ts'
import { listeningAddress } from './listening.ts'

export { newDirectory } from './directory.ts'

/** Lets a bundle below a directory find packages that cannot be bundled, and `package.json`, which has the version. */
async function prepare(directory: string): Promise<void> {
  await linkPackages(directory)
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ version: '0.0.0' }))
}

/** One file of a program that contains the server's command line. */
export async function serverProgram(entry: URL, directory: string): Promise<string> {
  await prepare(directory)
  return bundle(entry, { outfile: join(directory, 'bin', 'server.mjs'), define: consolePagesDefine() })
}

/** Starts the demo and stops it, so that its compiled code is there for the next starts. */
async function warm(program: string, home: string): Promise<void> {
  mkdirSync(home)
  const server = spawn(process.execPath, [program, 'serve', '--port', '0', '--log-format', 'text'], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, GRANTRY_TEST_PARENT: String(process.pid), GRANTRY_TEST_CODE_CACHE: 'write' },
  })
  let log = ''
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
    // Not again for later lines: a second signal ends a server that is still stopping.
    if (!server.killed && listeningAddress(log) !== undefined) server.kill('SIGTERM')
  })
  const [code] = await once(server, 'close')
  if (code !== 0) throw new Error(`The server ended with ${code}:\n${log}`)
}

let real: Promise<string> | undefined

/**
 * The real server, bundled and compiled once for a run. Every user of the machine can start it. It is CommonJS, because
 * Node.js 20 keeps compiled code for scripts only.
 */
export function realServerProgram(): Promise<string> {
  real ??= builtOnce('server', async (directory) => {
    chmodSync(directory, 0o755)
    await prepare(directory)
    const bin = join(directory, 'bin')
    await bundle(new URL('./programs/server.ts', import.meta.url), {
      outfile: join(bin, 'server.cjs'),
      format: 'cjs',
      banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
      define: { ...consolePagesDefine(), 'import.meta.url': 'bundleUrl' },
    })
    // A script from compiled code cannot import modules by itself.
    const server = join(bin, 'server.cjs')
    writeFileSync(server, readFileSync(server, 'utf8').replaceAll(/\bimport\(/gu, 'importOfStart('))
    copyFileSync(fileURLToPath(new URL('./programs/start-cached.cjs', import.meta.url)), join(bin, 'start.cjs'))
    await warm(join(bin, 'start.cjs'), join(directory, 'home'))
  }).then((directory) => join(directory, 'bin', 'start.cjs'))
  return real
}
